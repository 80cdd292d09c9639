# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice -n LEVEL -p PID: processes that run already, and the connections they have."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from system.harness.commands import (
    ALGORITHM,
    Pair,
    children,
    descendants,
    group_of,
    marks,
    name,
    netnice,
    netnicectl,
    runs_on,
)
from testbed import Nginx, Process, program, random_file, scratch
from testbed.namespace import wait_until

SIZE = 12_000_000


@pytest.mark.usefixtures("up")
class TestTransfer:
    def test_a_download_goes_through_every_level_and_back(self, pair: Pair) -> None:
        """nginx's workers hold the connections, its master only the listening socket."""
        got = scratch("live") / "got"
        with Nginx(pair.a, {"data": 0}) as web:
            sent = web.folder / "www" / "data"
            random_file(sent, SIZE)
            workers = children(web.process.pid)
            pids = [str(pid) for pid in (web.process.pid, *workers)]
            curl = pair.b.spawn("curl", "-sSf", "--limit-rate", "4M", "-o", got, web.url("data"))
            wait_until(lambda: set(runs_on(pair.a, local=web.port)) == {"cubic"}, "the transfer", process=curl)
            for level in ("1", "0", "2", "1", "off", "0"):
                netnice("-n", level, "-p", *pids)
                expected = "cubic" if level == "off" else ALGORITHM[int(level)]
                assert set(runs_on(pair.a, local=web.port)) == {expected}
                said = "foreground" if level == "off" else level
                assert netnice("-p", *pids).stdout.split() == [said] * len(pids)
                assert curl.running()
            curl.wait(timeout=60)
            assert curl.returncode == 0
            assert got.read_bytes() == sent.read_bytes()


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("version", [4, 6])
class TestConnections:
    """The server listens on ::, so that its IPv4 is v4-mapped."""

    def test_either_end(self, pair: Pair, version: int) -> None:
        client, server, port = pair.connect(version)
        for namespace, side, process in ((pair.a, "dport", client), (pair.b, "sport", server)):
            assert marks(namespace, version, side, port) == ("cubic", 0)
            for level, expected in (("2", ("netnice2", 4)), ("0", ("netnice", 4)), ("off", ("cubic", 0))):
                netnice("-n", level, "-p", str(process.pid))
                assert marks(namespace, version, side, port) == expected

    def test_what_a_server_accepts_afterwards(self, pair: Pair, version: int) -> None:
        """Its listening socket stays in the cgroup it was made in, whose policy must not speak for it any more."""
        server = pair.end(pair.b, "serve")
        port = server.line().strip()
        for level, expected in (
            ("1", "netnice1"),
            ("2", "netnice2"),
            ("0", "netnice"),
            ("off", "cubic"),
            ("2", "netnice2"),
        ):
            netnice("-n", level, "-p", str(server.pid))
            pair.end(pair.a, "connect", pair.to(version), port)
            assert json.loads(server.line()) == [expected, 0 if level == "off" else 4]

    def test_a_server_started_at_a_level(self, pair: Pair, version: int) -> None:
        server = pair.end(pair.b, "serve", first=["netnice", "-n", "2"])
        port = server.line().strip()
        for level, expected in ((None, "netnice2"), ("0", "netnice"), ("off", "cubic")):
            if level:
                netnice("-n", level, "-p", str(server.pid))
            pair.end(pair.a, "connect", pair.to(version), port)
            assert json.loads(server.line())[0] == expected


@pytest.mark.usefixtures("up")
class TestMarks:
    def test_no_mark(self, pair: Pair) -> None:
        client, _, port = pair.connect()
        netnice("-n", "1", "--no-mark", "-p", str(client.pid))
        assert marks(pair.a, 4, "dport", port) == ("netnice1", 0)
        netnice("-n", "2", "-p", str(client.pid))
        assert marks(pair.a, 4, "dport", port) == ("netnice2", 0)
        assert netnice("-p", str(client.pid)).stdout == "2 unmarked\n"


def test_no_mark_for_the_machine(down: dict[int, str], pair: Pair) -> None:
    netnicectl("up", "--no-mark")
    client, _, port = pair.connect()
    netnice("-n", "1", "-p", str(client.pid))
    assert marks(pair.a, 4, "dport", port) == ("netnice1", 0)


@pytest.mark.usefixtures("up")
def test_off_gives_the_window_back_to_the_kernel(pair: Pair) -> None:
    """What a live connection receives stops yielding; a change of level alone leaves that as it is."""
    unclamped = 1 << 30
    with Nginx(pair.b, {"data": 1 << 30}) as web:
        fetch = pair.end(pair.a, "fetch", pair.b4, str(web.port), "/data", first=["netnice"])

        def clamps() -> set[bool]:
            return {int(fetch.line()) >= unclamped for _ in range(5)}

        assert clamps() == {False}
        netnice("-n", "1", "-p", str(fetch.pid))
        assert netnice("-p", str(fetch.pid)).stdout == "1\n"
        fetch.line()
        assert clamps() == {False}
        netnice("-n", "off", "-p", str(fetch.pid))
        fetch.line()
        assert clamps() == {True}
        assert marks(pair.a, 4, "dport", web.port) == ("cubic", 0)


def on_a_terminal(*words: str) -> str:
    """What netnice says there."""
    master, terminal = pty.openpty()
    with os.fdopen(master, "rb") as screen:
        subprocess.run([program("netnice"), *words], stdout=terminal, stderr=terminal, check=True, timeout=60)
        os.write(terminal, b"end")
        os.close(terminal)
        said = b""
        while not said.endswith(b"end"):
            said += screen.read1(4096)
    return said.removesuffix(b"end").decode()


def niceness(pid: int) -> str:
    """As `netnice -p` prints it."""
    return netnice("-p", str(pid)).stdout.strip()


@pytest.mark.usefixtures("up")
class TestProcesses:
    def test_children_stay_and_new_ones_follow(self) -> None:
        script = "sleep 600 & read line; sleep 600 & wait"
        with subprocess.Popen([program("sh"), "-c", script], stdin=subprocess.PIPE, text=True) as shell:
            try:
                wait_until(lambda: len(children(shell.pid)) == 1, "the first child")
                (first,) = children(shell.pid)
                before = group_of(shell.pid)
                netnice("-n", "1", "-p", str(shell.pid))
                shell.communicate("go\n", timeout=0.5)
            except subprocess.TimeoutExpired:
                (second,) = set(children(shell.pid)) - {first}
                assert [niceness(pid) for pid in (shell.pid, second, first)] == ["1", "1", "foreground"]
                assert group_of(shell.pid) == group_of(second) == before, "nobody leaves their unit"
                os.kill(second, 9)
            finally:
                for child in children(shell.pid):
                    with suppress(ProcessLookupError):  # it may end by itself meanwhile
                        os.kill(child, 9)
                shell.kill()

    def test_descendants(self) -> None:
        """Those of a child too, and a child that is at another level."""
        script = f"(sleep 600; true) & {program('netnice')} -n 2 sleep 600 & sleep 600 & read line"
        with subprocess.Popen([program("sh"), "-c", script], stdin=subprocess.PIPE, text=True) as shell:
            family = [shell.pid]
            try:
                wait_until(lambda: [name(pid) for pid in descendants(shell.pid)].count("sleep") == 3, "its children")
                family += descendants(shell.pid)
                netnice("-n", "1", "--descendants", "-p", str(shell.pid))
                assert {niceness(pid) for pid in family} == {"1"}
                assert niceness(os.getpid()) == "foreground"
            finally:
                for pid in family:
                    os.kill(pid, 9)

    def test_one_without_a_socket_is_told(self, pair: Pair) -> None:
        with Process([program("sleep"), "600"]) as sleeper:
            said = on_a_terminal("-n", "0", "-p", str(sleeper.pid))
            assert f"process {sleeper.pid} has no TCP socket now" in said
            assert f"'netnicectl explain {sleeper.pid}'" in said
            assert on_a_terminal("-n", "off", "-p", str(sleeper.pid)) == ""
            client, _, _ = pair.connect()
            assert on_a_terminal("-n", "0", "-p", str(client.pid), str(sleeper.pid)) == ""
            done = netnice("-n", "0", "-p", str(sleeper.pid))
            assert done.stdout + done.stderr == "", "a script is told nothing"

    def test_a_thread_stands_for_its_process(self) -> None:
        script = "import threading, time; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()"
        with Process([sys.executable, "-c", f"{script}; time.sleep(600)"]) as process:
            tasks = Path(f"/proc/{process.pid}/task")
            wait_until(lambda: len(list(tasks.iterdir())) == 2, "its thread")
            (thread,) = {int(task.name) for task in tasks.iterdir()} - {process.pid}
            netnice("-n", "2", "-p", str(thread))
            assert niceness(process.pid) == niceness(thread) == "2"

    def test_off_leaves_others_alone(self, pair: Pair) -> None:
        """A connection that never was in the background keeps what its program chose."""
        port = int(pair.end(pair.b, "listen").line())
        script = f"""if True:
            import signal, socket
            c = socket.socket()
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
            c.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x20)
            c.connect(("{pair.b4}", {port}))
            print(flush=True)
            signal.pause()
        """
        client = pair.a.spawn(sys.executable, "-c", script, stdout=subprocess.PIPE)
        client.line()
        netnice("-n", "off", "-p", str(client.pid))
        assert marks(pair.a, 4, "dport", port) == ("reno", 0x20)


@pytest.mark.usefixtures("up")
class TestErrors:
    def test_no_such_process(self) -> None:
        with subprocess.Popen([program("true")]) as gone:
            gone.wait()
        for words in (["-n", "1", "-p"], ["-p"]):
            done = netnice(*words, str(gone.pid), check=False)
            assert done.returncode == 125
            assert f"there is no process {gone.pid}" in done.stderr

    def test_a_kernel_thread(self) -> None:
        done = netnice("-n", "1", "-p", "2", check=False)
        assert done.returncode == 125
        assert "process 2 (kthreadd) is a thread of the kernel" in done.stderr

    def test_the_others_are_moved(self) -> None:
        with Process([program("sleep"), "600"]) as good:
            done = netnice("-n", "1", "-p", "2147483647", str(good.pid), "2147483646", check=False)
            assert done.returncode == 125
            assert [line.startswith("netnice: there is no process") for line in done.stderr.splitlines()[::2]] == [
                True
            ] * 2
            assert niceness(good.pid) == "1"

    def test_rights_of_a_debugger_are_needed(self, pair: Pair) -> None:
        server = pair.end(pair.b, "listen")
        server.line()
        drop = [program("setpriv"), "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace", "--"]
        words = [*drop, program("netnice"), "-n", "1", "-p", str(server.pid)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 125
        assert "CAP_SYS_PTRACE" in done.stderr

    def test_a_name_is_no_number(self) -> None:
        assert "'pidof NAME'" in netnice("-n", "0", "-p", "rsync", check=False).stderr

    @pytest.mark.parametrize("words", [["-p"], ["-p", "0"], ["-p", "x"], ["-n", "1", "-p", "1", "--", "true"]])
    def test_a_wrong_command_line(self, words: list[str]) -> None:
        done = netnice(*words, check=False)
        assert done.returncode == 125
        assert done.stderr


def test_it_comes_up_by_itself(down: dict[int, str]) -> None:
    with Process([program("sleep"), "600"]) as process:
        done = netnice("-n", "2", "-p", str(process.pid))
        assert "loaded into the kernel" in done.stderr
        assert niceness(process.pid) == "2"
