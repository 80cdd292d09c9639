# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnicectl attach and detach: a unit or container yields where it is, with all that runs in it."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.harness import cgroups, kernel, runtime
from system.harness.cgroups import inside
from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.days import say
from system.harness.marks import marks
from system.harness.pins import rewrite_state
from testbed import Process, program, sockets
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")
MANY = 200


@pytest.fixture
def unit() -> Iterator[Path]:
    """A cgroup as a service manager makes them, gone afterwards with what is below it."""
    with cgroups.made("job.service") as folder:
        yield folder


def attached(netnicectl: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(netnicectl("status", "--json").stdout)["attached"]
    return found


class TestConnections:
    def test_new_ones_yield_and_nobody_is_moved(self, netnicectl: Run, netnice: Run, pair: Pair, unit: Path) -> None:
        below = unit / "worker"
        below.mkdir()
        for cgroup in (unit, below):
            assert netnicectl("attach", "-n", "1", "job.service").returncode == 0
            server = pair.hold(pair.b, "listen")
            port = int(server.line())
            words = inside(cgroup, sys.executable, str(PROGRAMS / "hold.py"), "connect", pair.b4, str(port))
            with pair.a.spawn(*words, stdout=subprocess.PIPE) as client:
                client.line()
                assert marks(pair.a, 4, "dport", port) == ("netnice1", 4)
                assert netnice("-p", str(client.pid)).stdout == "1\n"
                assert str(client.pid) in (cgroup / "cgroup.procs").read_text().split()
        other = pair.hold(pair.b, "listen")
        port = int(other.line())
        pair.hold(pair.a, "connect", pair.b4, str(port)).line()
        assert marks(pair.a, 4, "dport", port)[1] == 0, "who is outside stays in the foreground"

    def test_those_in_use_yield_within_a_second_and_are_given_back(
        self, netnicectl: Run, pair: Pair, unit: Path
    ) -> None:
        with pair.a.spawn(
            *inside(unit, sys.executable, str(PROGRAMS / "hold_many.py"), str(MANY)), stdout=subprocess.PIPE
        ) as holder:
            holder.line()
            (default,) = set(sockets_on(pair))
            begun = time.monotonic()
            said = netnicectl("attach", str(unit)).stdout
            assert time.monotonic() - begun < 1
            assert f"processes: 1, their TCP sockets: {2 * MANY}" in said
            assert set(sockets_on(pair)) == {"netnice"}
            assert "detached" in netnicectl("detach", str(unit)).stdout
            assert set(sockets_on(pair)) == {default}

    def test_the_nicer_wins(self, netnicectl: Run, netnice: Run, unit: Path) -> None:
        with Process(inside(unit, program("netnice"), "-n", "2", "sleep", "600")) as process:
            wait_until(lambda: netnice("-p", str(process.pid)).stdout == "2\n", "it to be nice")
            netnicectl("attach", "-n", "1", str(unit))
            assert netnice("-p", str(process.pid)).stdout == "2\n"
            netnicectl("detach", str(unit))
            assert netnice("-p", str(process.pid)).stdout == "2\n"


def sockets_on(pair: Pair) -> list[str]:
    """The congestion control of each connection in the first namespace."""
    return [s.congestion_control for s in sockets(pair.a) if s.state == "ESTAB"]


class TestStatus:
    def test_told_and_gone_with_its_cgroup(self, netnicectl: Run, unit: Path) -> None:
        child = unit / "once.scope"
        child.mkdir()
        netnicectl("attach", "--send-only", "--no-mark", "once.scope")
        below = child.relative_to(kernel.cgroup_root())
        assert attached(netnicectl) == [
            {
                "cgroup": str(below),
                "by_rule": False,
                "without_quic": False,
                "level": 0,
                "marked": False,
                "direction": "send",
            }
        ]
        assert f"attached at level 0, send only, unmarked: {below}" in netnicectl("status").stdout
        child.rmdir()
        assert attached(netnicectl) == []
        dump = [program("bpftool"), "-j", "map", "dump", "pinned", str(kernel.PINS / "maps" / "attached")]
        assert json.loads(subprocess.run(dump, capture_output=True, check=True).stdout) == []

    def test_another_builds_up_keeps_it_and_down_forgets_it(self, netnicectl: Run, unit: Path) -> None:
        netnicectl("attach", str(unit))
        before = attached(netnicectl)
        rewrite_state(build_id="0" * 64, version="0.0.1")
        assert netnicectl("up").stdout.startswith("up again")
        assert attached(netnicectl) == before != []
        netnicectl("down")
        netnicectl("up")
        assert attached(netnicectl) == []


class TestErrors:
    def test_names(self, netnicectl: Run, unit: Path) -> None:
        for folder in ("a", "b"):
            (unit / folder / "twice.scope").mkdir(parents=True)
        for name, words in (
            ("nobody.service", "no unit, container or other cgroup is named 'nobody.service'"),
            ("twice.scope", "'twice.scope' is the name of several cgroups"),
            ("netnice/level0", "cannot be attached: it is the root of the cgroups, netnice's own"),
            (str(kernel.cgroup_root()), "cannot be attached: it is the root of the cgroups, netnice's own"),
        ):
            done = netnicectl("attach", name, check=False)
            assert (done.returncode, words in done.stderr) == (1, True), done.stderr
        assert netnicectl("attach", "-n", "3", str(unit), check=False).returncode == 2
        assert netnicectl("detach", str(unit)).stdout == "it was not attached\n"

    def test_not_up(self, netnicectl: Run, unit: Path) -> None:
        netnicectl("down")
        done = netnicectl("attach", str(unit), check=False)
        assert (done.returncode, "netnice is not up" in done.stderr) == (1, True)

    def test_not_root(self, as_nobody: Run, unit: Path) -> None:
        done = as_nobody("netnicectl", "attach", str(unit))
        assert (done.returncode, "only root can" in done.stderr) == (1, True)


SOCKETS = "import socket\nfor _ in range(20000): socket.socket().close()"


def test_what_a_socket_elsewhere_costs(netnicectl: Run, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a process six cgroups deep that nobody attached, by the kernel's statistics: at most 250 ns. The median."""
    deep = unit.joinpath(*"123456")
    deep.mkdir(parents=True)
    (unit / "other").mkdir()
    netnicectl("attach", str(unit / "other"))
    costs = []
    with runtime.measured():
        for _ in range(5):
            before = runtime.newest("netnice_socket")
            subprocess.run(inside(deep, sys.executable, "-c", SOCKETS), check=True)
            costs.append((runtime.newest("netnice_socket") - before).each)
    say(capsys, f"a socket {statistics.median(costs):.0f} ns while another cgroup is attached")
    assert statistics.median(costs) <= 250
