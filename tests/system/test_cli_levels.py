# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice -n LEVEL: what a command's connections run on, and who may ask for what."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.levels import ALGORITHM, group_of
from system.harness.marks import marks
from testbed import Process, program

pytestmark = pytest.mark.usefixtures("up")


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("level", ALGORITHM)
class TestConnections:
    def test_of_a_client(self, pair: Pair, level: int, version: int) -> None:
        server = pair.hold(pair.b, "listen")
        port = int(server.line())
        words = [sys.executable, str(PROGRAMS / "hold.py"), "connect", pair.b4 if version == 4 else pair.b6, str(port)]
        pair.a.spawn("netnice", "-n", str(level), *words, stdout=subprocess.PIPE).line()
        assert marks(pair.a, version, "dport", port) == (ALGORITHM[level], 4)

    def test_of_a_server(self, pair: Pair, level: int, version: int) -> None:
        words = [sys.executable, str(PROGRAMS / "hold.py"), "listen"]
        server = pair.b.spawn("netnice", "-n", str(level), *words, stdout=subprocess.PIPE)
        port = int(server.line())
        pair.hold(pair.a, "connect", pair.b4 if version == 4 else pair.b6, str(port)).line()
        assert marks(pair.b, version, "sport", port) == (ALGORITHM[level], 4)


class TestNested:
    @pytest.mark.parametrize(
        ("outer", "inner", "now"), [("0", "1", "1"), ("1", "0", "1"), ("2", "0", "2"), ("0", "2", "2")]
    )
    def test_never_less_nice(self, netnice: Run, outer: str, inner: str, now: str) -> None:
        me = program("netnice")
        assert netnice("-n", outer, me, "-n", inner, me).stdout == f"{now}\n"

    def test_without_a_level_it_stays(self, netnice: Run) -> None:
        me = program("netnice")
        assert netnice("-n", "2", me, me).stdout == "2\n"

    def test_every_kind_of_a_level(self, netnice: Run) -> None:
        me = program("netnice")
        assert netnice("-n", "1", "--no-mark", me).stdout == "1 unmarked\n"
        assert netnice("-n", "2", "--send-only", me).stdout == "2 send only\n"

    def test_off_is_for_processes(self, netnice: Run) -> None:
        done = netnice("-n", "off", "true", check=False)
        assert done.returncode == 125
        assert "'off' is no level to run a command at" in done.stderr


@pytest.fixture
def sleeper() -> Iterator[Process]:
    """A process of nobody, in the foreground."""
    drop = [program("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    with Process([*drop, program("sleep"), "600"]) as process:
        comm = Path(f"/proc/{process.pid}/comm")
        while comm.read_text().strip() != "sleep":
            pass
        yield process


@pytest.fixture
def open_groups(up: dict[int, str]) -> None:
    """The administrator lets everybody move processes between the levels; gone with the next down."""
    parent = kernel.cgroup_root() / "netnice"
    for procs in [parent / "cgroup.procs", *parent.glob("*/cgroup.procs")]:
        procs.chmod(0o666)


class TestWithoutRights:
    def test_not_the_processes_of_others(self, as_nobody: Run) -> None:
        with Process([program("sleep"), "600"]) as theirs:
            before = group_of(theirs.pid)
            for level in ("2", "off"):
                done = as_nobody("netnice", "-n", level, "-p", str(theirs.pid))
                assert done.returncode == 125
                assert "belongs to another user: only root may move it" in done.stderr
            assert group_of(theirs.pid) == before

    def test_their_own_into_the_background_and_not_back(self, as_nobody: Run, sleeper: Process) -> None:
        pid, before = str(sleeper.pid), group_of(sleeper.pid)
        done = as_nobody("netnice", "-n", "0", "--send-only", "-p", pid)
        assert (done.returncode, done.stderr) == (0, "")
        done = as_nobody("netnice", "-n", "off", "-p", pid)
        assert done.returncode == 125
        assert "only root may make it less nice" in done.stderr
        assert as_nobody("netnice", "-p", pid).stdout == "0 send only\n"
        assert group_of(sleeper.pid) == before

    @pytest.mark.usefixtures("open_groups")
    def test_nicer_where_the_administrator_lets_them(self, as_nobody: Run, sleeper: Process) -> None:
        pid = str(sleeper.pid)
        (kernel.cgroup_root() / "netnice" / "level1" / "cgroup.procs").write_text(pid)
        for level in ("0", "off"):
            done = as_nobody("netnice", "-n", level, "-p", pid)
            assert done.returncode == 125
            assert "is at level 1: only root may make it less nice" in done.stderr
        assert as_nobody("netnice", "-p", pid).stdout == "1\n"
        done = as_nobody("netnice", "-n", "2", "-p", pid)
        assert (done.returncode, done.stderr) == (0, "")
        assert as_nobody("netnice", "-p", pid).stdout == "2\n"
