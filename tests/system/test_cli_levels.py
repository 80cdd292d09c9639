# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice -n LEVEL: what a command's connections run on, and which user may ask for which level."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from system.harness import kernel
from system.harness.commands import ALGORITHM, DROP, Pair, Run, as_user, group_of, marks, name, netnice
from testbed import Process, program
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("level", ALGORITHM)
class TestConnections:
    """Active and passive, IPv4 and IPv6; the passive end listens on ::, so its IPv4 is v4-mapped."""

    def test_of_a_client(self, pair: Pair, level: int, version: int) -> None:
        port = pair.connect(version, client=["netnice", "-n", str(level)]).port
        assert marks(pair.a, version, "dport", port) == (ALGORITHM[level], 4)
        assert marks(pair.b, version, "sport", port) == ("cubic", 0), "not the other end"

    def test_of_a_server(self, pair: Pair, level: int, version: int) -> None:
        port = pair.connect(version, server=["netnice", "-n", str(level)]).port
        assert marks(pair.b, version, "sport", port) == (ALGORITHM[level], 4)
        assert marks(pair.a, version, "dport", port) == ("cubic", 0), "not the other end"


class TestNested:
    @pytest.mark.parametrize(
        ("outer", "inner", "now"), [("0", "1", "1"), ("1", "0", "1"), ("2", "0", "2"), ("0", "2", "2")]
    )
    def test_never_less_nice(self, outer: str, inner: str, now: str) -> None:
        me = program("netnice")
        assert netnice("-n", outer, me, "-n", inner, me).stdout == f"{now}\n"

    def test_without_a_level_it_stays(self) -> None:
        me = program("netnice")
        assert netnice("-n", "2", me, me).stdout == "2\n"

    def test_every_kind_of_a_level(self) -> None:
        me = program("netnice")
        assert netnice("-n", "1", "--no-mark", me).stdout == "1 unmarked\n"
        assert netnice("-n", "2", "--send-only", me).stdout == "2 send only\n"
        assert netnice("--receive-only", me).stdout == "0 receive only\n"
        assert netnice("--receive-only", me, "--send-only", me).stdout == "0\n", "they add up"

    def test_off_is_for_processes(self) -> None:
        done = netnice("-n", "off", "true", check=False)
        assert done.returncode == 125
        assert "'off' is no level to run a command at" in done.stderr


@pytest.fixture
def sleeper() -> Iterator[Process]:
    """A process of the user `nobody`, in the foreground."""
    with Process([*DROP, program("sleep"), "600"]) as process:
        wait_until(lambda: name(process.pid) == "sleep", "it to run")
        yield process


@pytest.fixture
def open_groups(up: None) -> None:
    """The administrator lets every user move processes between the levels; gone with the next down."""
    parent = kernel.cgroup_root() / "netnice"
    for procs in [parent / "cgroup.procs", *parent.glob("*/cgroup.procs")]:
        procs.chmod(0o666)


class TestWithoutRights:
    @pytest.mark.parametrize("user", [0, 65533])
    def test_not_the_processes_of_others(self, as_nobody: Run, user: int) -> None:
        with Process([*as_user(user), program("sleep"), "600"]) as theirs:
            wait_until(lambda: name(theirs.pid) == "sleep", "it to run")
            before = group_of(theirs.pid)
            for level in ("2", "off"):
                done = as_nobody("netnice", "-n", level, "-p", str(theirs.pid))
                assert done.returncode == 125
                assert "belongs to another user: only root may move it" in done.stderr
            assert group_of(theirs.pid) == before
            assert netnice("-p", str(theirs.pid)).stdout == "foreground\n"

    def test_their_own_into_the_background_and_not_back(self, as_nobody: Run, sleeper: Process) -> None:
        pid, before = str(sleeper.pid), group_of(sleeper.pid)
        done = as_nobody("netnice", "-n", "0", "--send-only", "-p", pid)
        assert (done.returncode, done.stderr) == (0, "")
        done = as_nobody("netnice", "-n", "off", "-p", pid)
        assert done.returncode == 125
        assert "only root can make it less nice" in done.stderr
        assert as_nobody("netnice", "-p", pid).stdout == "0 send only\n"
        assert group_of(sleeper.pid) == before

    @pytest.mark.usefixtures("open_groups")
    def test_nicer_where_the_administrator_lets_them(self, as_nobody: Run, sleeper: Process) -> None:
        pid = str(sleeper.pid)
        (kernel.cgroup_root() / "netnice" / "level1" / "cgroup.procs").write_text(pid)
        for level in ("0", "off"):
            done = as_nobody("netnice", "-n", level, "-p", pid)
            assert done.returncode == 125
            assert "is at level 1: only root can make it less nice" in done.stderr
        assert as_nobody("netnice", "-p", pid).stdout == "1\n"
        done = as_nobody("netnice", "-n", "2", "-p", pid)
        assert (done.returncode, done.stderr) == (0, "")
        assert as_nobody("netnice", "-p", pid).stdout == "2\n"
