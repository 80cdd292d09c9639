# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnicectl attach and detach: a unit or container yields where it is, with all that runs in it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.harness import kernel
from system.harness.commands import Pair, Run, call, end, marks, netnice, netnicectl, runs_on, status
from system.harness.kernel import inside, rewrite_state
from testbed import Process, program
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")
MANY = 200


@pytest.fixture
def unit() -> Iterator[Path]:
    """A cgroup as a service manager makes them, gone afterwards with what is below it."""
    with kernel.cgroup("job.service") as folder:
        yield folder


def attached() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = status()["attached"]
    return found


class TestConnections:
    def test_new_ones_yield_and_nobody_is_moved(self, pair: Pair, unit: Path) -> None:
        below = unit / "worker"
        below.mkdir()
        for cgroup in (unit, below):
            assert netnicectl("attach", "-n", "1", "job.service").returncode == 0
            port = int(pair.end(pair.b, "listen").line())
            words = inside(cgroup, *end("connect", pair.b4, str(port)))
            with pair.a.spawn(*words, stdout=subprocess.PIPE) as client:
                client.line()
                assert marks(pair.a, 4, "dport", port) == ("netnice1", 4)
                assert netnice("-p", str(client.pid)).stdout == "1\n"
                assert str(client.pid) in (cgroup / "cgroup.procs").read_text().split()
        assert marks(pair.a, 4, "dport", pair.connect().port)[1] == 0, "who is outside stays in the foreground"

    def test_those_in_use_yield_within_a_second_and_are_given_back(self, pair: Pair, unit: Path) -> None:
        with pair.end(pair.a, "many", str(MANY), first=inside(unit)) as holder:
            holder.line()
            (default,) = set(runs_on(pair.a))
            begun = time.monotonic()
            said = netnicectl("attach", str(unit)).stdout
            assert time.monotonic() - begun < 1
            assert f"processes: 1, their TCP sockets: {2 * MANY}" in said
            assert set(runs_on(pair.a)) == {"netnice"}
            assert "detached" in netnicectl("detach", str(unit)).stdout
            assert set(runs_on(pair.a)) == {default}

    def test_the_nicer_wins(self, unit: Path) -> None:
        with Process(inside(unit, program("netnice"), "-n", "2", "sleep", "600")) as process:
            wait_until(lambda: netnice("-p", str(process.pid)).stdout == "2\n", "it to be nice")
            netnicectl("attach", "-n", "1", str(unit))
            assert netnice("-p", str(process.pid)).stdout == "2\n"
            netnicectl("detach", str(unit))
            assert netnice("-p", str(process.pid)).stdout == "2\n"


class TestStatus:
    def test_told_and_gone_with_its_cgroup(self, unit: Path) -> None:
        child = unit / "once.scope"
        child.mkdir()
        netnicectl("attach", "--send-only", "--no-mark", "once.scope")
        below = child.relative_to(kernel.cgroup_root())
        assert attached() == [
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
        assert attached() == []
        assert kernel.bpftool("map", "dump", "pinned", kernel.MAPS / "attached") == []


class TestErrors:
    def test_names(self, unit: Path) -> None:
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

    def test_paths_that_lead_elsewhere(self, unit: Path, tmp_path: Path) -> None:
        root, elsewhere = kernel.cgroup_root(), tmp_path / "elsewhere"
        below, deep = unit.parent.relative_to(root), unit / "worker"
        deep.mkdir()
        elsewhere.symlink_to(root)
        outside = "is no cgroup of the hierarchy"
        whole = "cannot be attached: it is the root of the cgroups, netnice's own"
        none = "no unit, container or other cgroup is named"
        for path, why in (
            (f"{below}/..", whole),
            (f"/{below}/../.", whole),
            (f"{root}/{below}//..//", whole),
            (f"{below}/../netnice", whole),
            (f"{below}/../../../..", outside),
            (f"{root}/..", outside),
            (str(elsewhere), whole),
            (str(tmp_path), outside),
            ("/", whole),
            ("..", none),
            (".", none),
            ("", none),
        ):
            done = netnicectl("attach", path, check=False)
            assert (done.returncode, why in done.stderr) == (1, True), (path, done.stderr)
            assert netnicectl("explain", path, check=False).returncode != 0, path
        hidden = f"mount --bind {root} {deep} && exec {program('netnicectl')} attach {deep}"
        done = call("unshare", "--mount", "sh", "-c", hidden, check=False)
        assert (done.returncode, outside in done.stderr) == (1, True), done.stderr
        assert attached() == []

    def test_one_cgroup_has_many_paths(self, unit: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(unit)
        below = unit.relative_to(kernel.cgroup_root())
        for path in (tmp_path / "link", f"{below}/", f"/{below}/.", f"{unit}//", f"{below}/../{unit.name}"):
            netnicectl("attach", str(path))
            assert [one["cgroup"] for one in attached()] == [str(below)]
            netnicectl("detach", str(unit))

    def test_not_root(self, as_nobody: Run, unit: Path) -> None:
        done = as_nobody("netnicectl", "attach", str(unit))
        assert (done.returncode, "only root can" in done.stderr) == (1, True)

    def test_not_up(self, unit: Path) -> None:
        netnicectl("down")
        done = netnicectl("attach", str(unit), check=False)
        assert (done.returncode, "netnice is not up" in done.stderr) == (1, True)


class TestUpAndDown:
    def test_another_builds_up_keeps_it_and_down_forgets_it(self, unit: Path) -> None:
        netnicectl("attach", str(unit))
        before = attached()
        rewrite_state(build_id="0" * 64, version="0.0.1")
        assert netnicectl("up").stdout.startswith("up again")
        assert attached() == before != []
        netnicectl("down")
        netnicectl("up")
        assert attached() == []
