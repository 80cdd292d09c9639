# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Connections that wait to be accepted: -p, attach and detach reach them with the process that will."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import DROP, PYTHON, Pair, end, end_as_text, netnice, netnicectl, receiver, runs_on
from system.harness.kernel import inside
from testbed import Namespace, Process, program
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")

FOREGROUND = ["cubic", 0, 0]
#: More than a batch of the kernel's iterator.
MANY = 300


@dataclass
class Server:
    """One that accepts when it is told to."""

    process: Process
    where: Namespace
    port: int

    @property
    def pid(self) -> int:
        return self.process.pid

    def waiting(self) -> int:
        """How many connections are in its queue."""
        return int(self.where.run("ss", "-tlnH", f"sport = :{self.port}").stdout.split()[1])

    def accept(self) -> list[list[str | int]]:
        self.process.signal(signal.SIGUSR1)
        found: list[list[str | int]] = json.loads(self.process.line())
        return found


@contextlib.contextmanager
def serve(where: Namespace, *words: str, first: Sequence[str] = (), python: str = PYTHON) -> Iterator[Server]:
    """``first``: the words before its own, such as those of a command that starts it."""
    argv = end_as_text("late", *words, python=python) if first == DROP else end("late", *words, python=python)
    with where.spawn(*first, *argv, stdout=subprocess.PIPE) as process:
        yield Server(process, where, int(process.line()))


@contextlib.contextmanager
def callers(pair: Pair, server: Server, many: int, address: str, others: int = 0) -> Iterator[None]:
    """So many connections wait for it then; ``others`` do already."""
    script = f"""if True:
        import signal, socket
        kept = [socket.create_connection(({address!r}, {server.port})) for _ in range({many - others})]
        print(flush=True)
        signal.pause()
    """
    with pair.a.spawn(sys.executable, "-c", script, stdout=subprocess.PIPE) as process:
        process.line()
        wait_until(lambda: server.waiting() == many, "all to wait")
        yield


class TestProcess:
    @pytest.mark.parametrize("version", [4, 6])
    def test_it_takes_them_along(self, pair: Pair, version: int) -> None:
        address = pair.to(version)
        tos = 4 if version == 4 else 0
        with (
            serve(pair.b) as server,
            serve(pair.b) as other,
            callers(pair, server, 3, address),
            callers(pair, other, 2, address),
        ):
            netnice("-n", "1", "-p", str(server.pid))
            assert server.accept() == [["netnice1", tos, 257]] * 3
            assert other.accept() == [FOREGROUND] * 2, "who has not been asked for"

    def test_and_back(self, pair: Pair) -> None:
        with serve(pair.b) as server, callers(pair, server, 3, pair.b4):
            netnice("-n", "2", "-p", str(server.pid))
            netnice("-n", "off", "-p", str(server.pid))
            assert server.accept() == [FOREGROUND] * 3

    def test_what_its_program_chose_stays(self, pair: Pair) -> None:
        with serve(pair.b, "reno") as server, callers(pair, server, 1, pair.b4):
            netnice("-n", "off", "-p", str(server.pid))
            assert server.accept() == [["reno", 0, 0]]

    def test_what_they_receive_yields_too(self, pair: Pair) -> None:
        with serve(pair.b) as server, callers(pair, server, 3, pair.b4):
            before = receiver()["adopted"]
            netnice("--receive-only", "-p", str(server.pid), "-n", "0")
            assert receiver()["adopted"] == before + 3
            assert server.accept() == [FOREGROUND] * 3

    def test_many(self, pair: Pair) -> None:
        with serve(pair.b) as server, callers(pair, server, MANY, pair.b4):
            netnice("-p", str(server.pid), "-n", "0")
            assert server.accept() == [["netnice", 4, 257]] * MANY

    def test_multipath(self, pair: Pair) -> None:
        """The socket above is its process', the queue is below."""
        with serve(pair.b, "mptcp") as server, callers(pair, server, 3, pair.b4):
            netnice("-n", "1", "-p", str(server.pid))
            server.accept()
            assert runs_on(pair.b, local=server.port) == ["netnice1"] * 3

    def test_without_root_it_says_that_it_cannot(self, pair: Pair) -> None:
        with serve(pair.b, first=DROP) as server, callers(pair, server, 3, pair.b4):
            words = [*DROP, program("netnice"), "-n", "1", "--send-only", "-p", str(server.pid)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0
            assert "could not change 3 connections that it has not accepted yet" in done.stderr
            assert server.accept() == [FOREGROUND] * 3


class TestRules:
    def test_what_its_unit_has_them_be_stays(self, pair: Pair, tmp_path: Path) -> None:
        """A rule for the program raises to 1 what yields at 2 already: those that wait, and those to come."""
        policy = tmp_path / "policy.toml"
        policy.write_text('[[rule]]\ncommand = "late-server"\nlevel = 1\n')
        named = tmp_path / "late-server"
        named.symlink_to(PYTHON)
        with kernel.cgroup("job.service") as unit:
            netnicectl("attach", "-n", "2", "job.service")
            with serve(pair.b, first=inside(unit), python=str(named)) as server, callers(pair, server, 3, pair.b4):
                netnicectl("policy", "apply", str(policy))
                with callers(pair, server, 5, pair.b4, others=3):
                    assert {name for name, *_ in server.accept()} == {"netnice2"}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("by", ["off", "down"])
def test_a_mark_that_the_program_chose_itself_stays(pair: Pair, by: str) -> None:
    with serve(pair.b, "le") as server, callers(pair, server, 3, pair.b4):
        if by == "off":
            netnice("-n", "off", "-p", str(server.pid))
        else:
            netnicectl("down")
        assert server.accept() == [["cubic", 4, 0]] * 3


class TestCgroup:
    def test_attach_and_detach(self, pair: Pair) -> None:
        with kernel.cgroup("job.service") as unit:
            with serve(pair.b, first=inside(unit)) as server, callers(pair, server, 3, pair.b4):
                assert "their TCP sockets: 4" in netnicectl("attach", "job.service").stdout
                netnicectl("detach", "job.service")
                assert server.accept() == [FOREGROUND] * 3
            with serve(pair.b, first=inside(unit)) as server, callers(pair, server, 3, pair.b4):
                netnicectl("attach", "-n", "2", "job.service")
                assert server.accept() == [["netnice2", 4, 257]] * 3
