# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Up and down: again, at once, killed at any step, upgraded, with connections alive."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import PROGRAMS, Done, Pair, Run, call
from system.harness.pins import rewrite_state
from testbed import Namespace, program, sockets
from testbed.namespace import wait_until

UP = [
    "locked", "bpffs-mounted", "stale-removed", "pins-made", "sender-loaded", "params-pinned",
    "sender-registered", "sender-pinned", "policy-loaded", "cgroup-made", "policy-attached",
    "policy-pinned", "receiver-loaded", "receiver-attached", "niceness-attached", "state-pinned",
]  # fmt: skip
DOWN = ["locked", "state-removed", "links-removed", "pins-removed", "cgroups-removed", "bpffs-unmounted"]


def steps(done: Done) -> list[str]:
    lines = [line.removeprefix("netnicectl: ") for line in done.stderr.splitlines()]
    return list(dict.fromkeys(lines))


def kill_at(step: str, *words: str) -> None:
    """Runs netnicectl until it stops itself after a step, and kills it there."""
    argv = [program("netnicectl"), *words]
    process = subprocess.Popen(argv, env={**os.environ, "NETNICE_STOP_AT": step}, stdout=subprocess.DEVNULL)
    stat = Path(f"/proc/{process.pid}/stat")
    try:
        wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", f"the step {step}")
    finally:
        process.kill()
        process.wait()


def assert_works() -> None:
    """What is loaded does its work: a new connection is on nice, and marked."""
    done = call("netnice", sys.executable, str(PROGRAMS / "gets.py"))
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["netnice", 4]
    assert json.loads(call("netnicectl", "status", "--json").stdout)["condition"] == "up"


@pytest.mark.usefixtures("down")
class TestAgain:
    def test_up_twice(self, netnicectl: Run) -> None:
        assert netnicectl("up").stdout == "up\n"
        before = (kernel.PINS / "links" / "sender-netnice").stat().st_ino
        assert netnicectl("up").stdout == "already up\n"
        assert (kernel.PINS / "links" / "sender-netnice").stat().st_ino == before
        assert_works()

    def test_down_twice(self, down: dict[int, str], netnicectl: Run) -> None:
        netnicectl("up")
        assert netnicectl("down").stdout == "down\n"
        assert netnicectl("down").stdout == "already down\n"
        kernel.assert_nothing_remains(down)

    def test_up_with_other_options(self, netnicectl: Run) -> None:
        netnicectl("up")
        assert "with other options" in netnicectl("up", "--with", "nnvegas,nnreno").stdout
        assert {"netnice", "nnvegas", "nnreno"} <= set(kernel.registered())
        assert netnicectl("up", "--with", "nnreno,nnvegas").stdout == "already up\n"
        netnicectl("up")
        assert not {"nnvegas", "nnreno"} & set(kernel.registered())

    def test_an_algorithm_that_does_not_exist(self, down: dict[int, str], netnicectl: Run) -> None:
        done = netnicectl("up", "--with", "bogus", check=False)
        assert done.returncode == 1
        assert "no algorithm is named 'bogus'; there are: netnice, " in done.stderr
        kernel.assert_nothing_remains(down)

    def test_no_mark_for_the_machine(self, netnicectl: Run, netnice: Run) -> None:
        netnicectl("up", "--no-mark")
        assert json.loads(netnice(sys.executable, str(PROGRAMS / "gets.py")).stdout) == ["netnice", 0]

    def test_no_mark_for_a_command(self, netnicectl: Run, netnice: Run) -> None:
        netnicectl("up")
        assert json.loads(netnice("--no-mark", sys.executable, str(PROGRAMS / "gets.py")).stdout) == ["netnice", 0]

    def test_an_upgrade_replaces_what_is_loaded(self, netnicectl: Run) -> None:
        netnicectl("up")
        rewrite_state(build_id="0" * 64)
        assert "other build" in netnicectl("show", check=False).stderr.replace("another", "other")
        assert "by another build" in netnicectl("up").stdout
        assert netnicectl("up").stdout == "already up\n"
        assert_works()


@pytest.mark.usefixtures("up")
class TestDamage:
    """What an administrator may do by hand."""

    def test_a_cgroup_removed(self, netnicectl: Run) -> None:
        (kernel.cgroup_root() / "netnice" / "level0").rmdir()
        assert "level0 has lost its policy" in netnicectl("up").stdout
        assert_works()

    def test_a_cgroup_removed_and_made_again(self, netnicectl: Run) -> None:
        level = kernel.cgroup_root() / "netnice" / "level0"
        level.rmdir()
        level.mkdir()
        assert "level0 has lost its policy" in netnicectl("up").stdout
        assert_works()

    def test_a_link_removed(self, netnicectl: Run) -> None:
        (kernel.PINS / "links" / "sender-netnice").unlink()
        wait_until(lambda: "netnice" not in kernel.registered(), "the name to go")
        assert "'netnice' is no longer registered" in netnicectl("up").stdout
        assert_works()

    def test_a_cgroup_removed_is_mended_by_netnice(self, netnice: Run) -> None:
        (kernel.cgroup_root() / "netnice" / "level0").rmdir()
        assert "loaded into the kernel" in netnice("true").stderr
        assert_works()


@pytest.mark.usefixtures("down")
class TestKilled:
    def test_these_are_all_the_steps(self, netnicectl: Run) -> None:
        assert steps(netnicectl("up", "--verbose")) == UP
        assert steps(netnicectl("down", "--verbose")) == DOWN

    @pytest.mark.parametrize("step", UP)
    def test_while_coming_up(self, down: dict[int, str], netnicectl: Run, step: str) -> None:
        kill_at(step, "up")
        assert netnicectl("up").stdout.startswith(("up", "already up" if step == UP[-1] else "up"))
        assert_works()
        netnicectl("down")
        kernel.assert_nothing_remains(down)

    @pytest.mark.parametrize("step", UP)
    def test_while_coming_up_and_then_down(self, down: dict[int, str], netnicectl: Run, step: str) -> None:
        kill_at(step, "up")
        netnicectl("down")
        kernel.assert_nothing_remains(down)

    @pytest.mark.parametrize("step", DOWN)
    def test_while_going_down(self, down: dict[int, str], netnicectl: Run, step: str) -> None:
        netnicectl("up")
        kill_at(step, "down")
        netnicectl("up")
        assert_works()
        kill_at(step, "down")
        netnicectl("down")
        kernel.assert_nothing_remains(down)

    def test_netnice_mends_an_unfinished_up(self, netnice: Run) -> None:
        kill_at("policy-pinned", "up")
        assert "loaded into the kernel" in netnice("true").stderr
        assert_works()

    def test_status_tells_an_unfinished_up(self, netnicectl: Run) -> None:
        kill_at("sender-pinned", "up")
        done = netnicectl("status", check=False)
        assert done.returncode == 3
        assert "incomplete" in done.stdout

    def test_at_any_moment(self, down: dict[int, str], netnicectl: Run) -> None:
        moments = random.Random(2)
        for _ in range(25):
            process = subprocess.Popen([program("netnicectl"), "up"], stdout=subprocess.DEVNULL)
            time.sleep(moments.uniform(0, 0.6))
            process.kill()
            process.wait()
            if moments.random() < 0.5:
                netnicectl("down")
        netnicectl("up")
        assert_works()
        netnicectl("down")
        kernel.assert_nothing_remains(down)


@pytest.mark.usefixtures("down")
class TestAtOnce:
    def test_two_netnice(self) -> None:
        argv = [program("netnice"), program("netnice")]
        both = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = [process.communicate(timeout=30) for process in both]
        assert [out for out, _ in said] == ["0\n", "0\n"]
        assert sorted(len(err.splitlines()) for _, err in said) == [0, 1]
        assert_works()

    def test_many_ups_and_downs(self, netnicectl: Run) -> None:
        words = ["up", "down"] * 6
        all_of_them = [subprocess.Popen([program("netnicectl"), w], stdout=subprocess.DEVNULL) for w in words]
        assert [process.wait(60) for process in all_of_them] == [0] * len(words)
        netnicectl("up")
        assert_works()

    def test_a_stopped_up_is_named(self, netnicectl: Run) -> None:
        """The second one waits for the first; the lock goes with its holder."""
        argv = [program("netnicectl"), "up"]
        holder = subprocess.Popen(argv, env={**os.environ, "NETNICE_STOP_AT": "locked"}, stdout=subprocess.DEVNULL)
        stat = Path(f"/proc/{holder.pid}/stat")
        wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "the lock")
        second = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        time.sleep(0.3)
        assert second.poll() is None
        holder.send_signal(signal.SIGCONT)
        assert holder.wait(30) == 0
        assert second.communicate(timeout=30)[0] == "already up\n"


@pytest.mark.usefixtures("up")
class TestDownWithLiveConnections:
    def test_they_carry_on(self, up: dict[int, str], netnicectl: Run, pair: Pair, static_upload: Path) -> None:
        size = 30_000_000
        sink = pair.b.spawn(sys.executable, PROGRAMS / "sink.py", "10e6", stdout=subprocess.PIPE)
        port = int(sink.line())
        upload = pair.a.spawn("netnice", static_upload, pair.b4, str(port), str(size))
        wait_until(lambda: on(pair.a, port) == ["netnice"], "the upload")
        assert netnicectl("down").stdout == "down; 1 process is in the foreground again\n"
        assert "netnice" not in kernel.registered()
        assert on(pair.a, port) == ["netnice"]
        upload.wait(timeout=60)
        assert upload.returncode == 0
        count, digest = json.loads(sink.line())
        assert (count, digest) == (size, sha256_of_zeros(size))
        kernel.assert_nothing_remains(up)

    def test_up_again_beside_them(self, netnicectl: Run, pair: Pair) -> None:
        server = pair.hold(pair.b, "listen")
        port = server.line().strip()
        client = pair.hold(pair.a, "connect", pair.b4, port, nice=True)
        client.line()
        netnicectl("down")
        netnicectl("up")
        assert on(pair.a, int(port)) == ["netnice"]
        assert_works()
        netnicectl("down")
        assert on(pair.a, int(port)) == ["netnice"]


def on(namespace: Namespace, port: int) -> list[str]:
    return [s.congestion_control for s in sockets(namespace, peer_port=port) if s.state == "ESTAB"]


def sha256_of_zeros(size: int) -> str:
    import hashlib

    return hashlib.sha256(bytes(size)).hexdigest()
