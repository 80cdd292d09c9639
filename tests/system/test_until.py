# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice --until and --for: in the background until then, in the foreground after, with the connections in use."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.clock import hours
from system.harness.commands import DROP, Pair, end, end_as_text, netnice, netnicectl, runs_on
from system.harness.kernel import inside
from testbed import Process, program
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")
SECONDS = 3


def waiting(name: bytes = b"netnice-until") -> list[int]:
    """The processes that wait for a deadline, or for the hours of rules."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == name:
            found.append(int(folder.name))
    return found


def opened(pid: int) -> list[Path]:
    """The files that a process has open."""
    found = []
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found.append(fd.readlink())
    return found


def all_on(pair: Pair, name: str) -> bool:
    return set(runs_on(pair.a)) == {name}


def is_at(pid: int, level: str) -> bool:
    return netnice("-p", str(pid)).stdout == f"{level}\n"


def switched(pair: Pair, begun: float, default: str = "cubic") -> float:
    """When the one connection is in the foreground again, in seconds since then."""
    wait_until(lambda: set(runs_on(pair.a)) == {default}, "the connection to be in the foreground", seconds=10)
    return time.time() - begun


class TestEnds:
    def test_live_and_new_connections(self, pair: Pair) -> None:
        port = int(pair.end(pair.b, "listen").line())
        begun = time.time()
        words = ["--for", f"{SECONDS}s", *end("connect", pair.b4, str(port))]
        with pair.a.spawn(program("netnice"), *words, stdout=subprocess.PIPE) as client:
            client.line()
            assert runs_on(pair.a) == ["netnice"]
            assert netnice("-p", str(client.pid)).stdout == "0\n"
            assert len(waiting()) == 1
            assert abs(switched(pair, begun) - SECONDS) < 1
            assert netnice("-p", str(client.pid)).stdout == "foreground\n"
        wait_until(lambda: not waiting(), "the process that waits to end")

    def test_children_until_a_time_of_day(self, pair: Pair) -> None:
        port = int(pair.end(pair.b, "listen").line())
        at = int(time.time()) + SECONDS
        late = f'sleep {SECONDS + 1}; exec "$@"'
        until = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
        words = ["--until", until, "sh", "-c", late, "sh", *end("connect", pair.b4, str(port))]
        with pair.a.spawn(program("netnice"), *words, stdout=subprocess.PIPE) as client:
            wait_until(lambda: netnice("-p", str(client.pid)).stdout == "0\n", "it to be nice")
            client.line()
            assert runs_on(pair.a) == ["cubic"], "made after the deadline"
            assert netnice("-p", str(client.pid)).stdout == "foreground\n"

    def test_what_it_was_before_stays(self) -> None:
        words = ["-n", "0", program("netnice"), "-n", "2", "--for", f"{SECONDS}s", "sleep", "60"]
        with Process([program("netnice"), *words]) as process:
            wait_until(lambda: netnice("-p", str(process.pid)).stdout == "2\n", "it to be nice")
            wait_until(lambda: netnice("-p", str(process.pid)).stdout == "0\n", "the rest to end", seconds=10)

    def test_a_user(self, pair: Pair) -> None:
        pair.a.run("sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")  # users may set it everywhere
        port = int(pair.end(pair.b, "listen").line())
        begun = time.time()
        words = [*DROP, program("netnice"), "--for", f"{SECONDS}s"]
        with pair.a.spawn(
            *words, *end_as_text("connect", pair.b4, str(port), python="/usr/bin/python3"), stdout=subprocess.PIPE
        ) as client:
            client.line()
            assert runs_on(pair.a) == ["netnice"]
            assert abs(switched(pair, begun, "reno") - SECONDS) < 1

    def test_root_ends_the_deadline(self) -> None:
        with Process([program("netnice"), "--for", f"{SECONDS}s", "sleep", "60"]) as process:
            wait_until(lambda: netnice("-p", str(process.pid)).stdout == "0\n", "it to be nice")
            netnice("-n", "0", "-p", str(process.pid))
            time.sleep(SECONDS + 0.5)
            assert netnice("-p", str(process.pid)).stdout == "0\n"
            netnice("-n", "off", "-p", str(process.pid))
            assert netnice("-p", str(process.pid)).stdout == "foreground\n"

    def test_a_longer_wish_is_not_cut_short(self) -> None:
        inner = [program("netnice"), "--for", "1s", "sleep", "60"]
        with Process([program("netnice"), "--for", f"{SECONDS + 1}s", *inner]) as process:
            wait_until(lambda: netnice("-p", str(process.pid)).stdout == "0\n", "it to be nice")
            time.sleep(2)
            assert netnice("-p", str(process.pid)).stdout == "0\n"
            wait_until(lambda: netnice("-p", str(process.pid)).stdout == "foreground\n", "both to end", seconds=10)


class TestWaiting:
    def test_it_ends_with_the_program(self) -> None:
        with Process([program("netnice"), "--for", "1h", "sleep", "60"]):
            wait_until(lambda: len(waiting()) == 1, "a process to wait")
        wait_until(lambda: not waiting(), "it to end")

    def test_it_holds_no_file_and_is_no_child(self, tmp_path: Path) -> None:
        lock = tmp_path / "lock"
        script = f'exec 9>"{lock}"; exec {program("netnice")} --for 1h sh -c "ps --ppid \\$\\$ -o comm="'
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=10, check=True)
        assert "netnice" not in done.stdout
        for pid in waiting():
            assert lock not in opened(pid)
        wait_until(lambda: not waiting(), "it to end")


class TestTold:
    def test_until_when(self, pair: Pair) -> None:
        port = int(pair.end(pair.b, "listen").line())
        words = ["--until", "2029-12-01 08:00", *end("connect", pair.b4, str(port))]
        with pair.a.spawn(program("netnice"), *words, stdout=subprocess.PIPE) as client:
            client.line()
            pid, said = str(client.pid), "until 2029-12-01 08:00:00"
            assert f"0 {said}" in netnicectl("explain", pid).stdout
            assert said in netnicectl("status").stdout
            assert said in pair.a.run(program("netnicectl"), "top", "--once", "-i", "0.1").stdout
            (one,) = json.loads(netnicectl("status", "--json").stdout)["timed"]
            assert (one["pid"], one["level"], one["until"]) == (client.pid, 0, said.removeprefix("until "))

    def test_what_is_none(self) -> None:
        for option, value in (
            ("--until", "tomorrow"),
            ("--until", "2020-01-01 00:00"),
            ("--for", "90"),
            ("--for", "0s"),
        ):
            done = netnice(option, value, "true", check=False)
            assert (done.returncode, option in done.stderr) == (125, True), done.stderr


class TestRules:
    """Hours: of cgroups and of programs, those that are there and those to come."""

    @staticmethod
    def apply(folder: Path, text: str) -> None:
        file = folder / "policy.toml"
        file.write_text(text)
        netnicectl("policy", "apply", str(file))

    def test_a_unit(self, pair: Pair, tmp_path: Path) -> None:
        with kernel.cgroup("nnt-hours.service") as unit, pair.end(pair.a, "many", "5", first=inside(unit)) as holder:
            holder.line()
            self.apply(tmp_path, f'[[rule]]\nunit = "nnt-hours.service"\n{hours(2, 5)}')
            begun = time.monotonic()
            assert set(runs_on(pair.a)) == {"cubic"}
            for ahead, expected in ((2, "netnice"), (5, "cubic")):
                wait_until(partial(all_on, pair, expected), f"all on {expected}", seconds=10)
                assert abs(time.monotonic() - begun - ahead) < 1.5  # a time of day is a whole second
        netnicectl("policy", "apply", "/dev/null")
        assert not waiting(b"netnice-hours")

    def test_a_program_that_begins_and_one_that_runs(self, tmp_path: Path) -> None:
        sleeper = tmp_path / "nnt-hours"
        shutil.copy(program("sleep"), sleeper)
        with Process([str(sleeper), "60"]) as before:
            self.apply(tmp_path, f'[[rule]]\ncommand = "nnt-hours"\nlevel = 1\n{hours(-1, 4)}')
            with Process([str(sleeper), "60"]) as after:
                for process in (before, after):
                    wait_until(partial(is_at, process.pid, "1"), "it to be nice")
                for process in (before, after):
                    wait_until(
                        partial(is_at, process.pid, "foreground"),
                        "the hours to end",
                        seconds=10,
                    )
            with Process([str(sleeper), "60"]) as late:
                time.sleep(0.3)
                assert netnice("-p", str(late.pid)).stdout == "foreground\n"

    def test_shown(self, tmp_path: Path) -> None:
        self.apply(tmp_path, '[[rule]]\nunit = "nnt-*"\nfrom = "18:00"\nuntil = "08:00"\n')
        assert "nnt-*: at level 0, from 18:00 until 08:00" in netnicectl("policy", "show").stdout
        assert len(waiting(b"netnice-hours")) == 1
        netnicectl("policy", "apply", "--again")
        wait_until(lambda: len(waiting(b"netnice-hours")) == 1, "one process in place of the last")
        netnicectl("down")
        wait_until(lambda: not waiting(b"netnice-hours"), "the process that waits to end")
