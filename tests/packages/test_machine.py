# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""With systemd as process 1: the packaged service loads netnice at boot, and services in the background keep all that
systemd gives them. A package is upgraded under a thousand connections, and taken away.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kernels.machine import Report, Step
from packages import machine
from testbed import ownership


@pytest.fixture(scope="module")
def report(older_deb: Path, deb: Path) -> Report:
    """What the script in the machine told."""
    return machine.boot(older_deb, deb, ownership.scratch("machine"))


@pytest.fixture
def steps(report: Report) -> dict[str, Step]:
    """All of them: it came to its end."""
    assert "end" in report.steps, report.console[-4000:]
    return report.steps


def lines(step: Step) -> list[str]:
    assert step.status == 0, step.said
    return step.said.splitlines()


def value(step: Step, begins: str) -> Any:
    """The JSON that begins with these characters on a line of their own."""
    found: Any = json.JSONDecoder().raw_decode(step.said[step.said.index(begins) :])[0]
    return found


def test_the_sandboxed_service_loads_it_at_boot(steps: dict[str, Step]) -> None:
    assert set(lines(steps["active"])) == {"ActiveState=active", "Result=success", "ExecMainStatus=0"}
    status = value(steps["status"], "{")
    assert status["condition"] == "up"
    assert status["loaded"]["hindered"] is None


def test_what_the_policy_names_is_in_the_background(steps: dict[str, Step]) -> None:
    found = value(steps["named"], "{")
    assert (found["cgroup"], found["in_effect"]["level"]) == ("system.slice/named.service", 2)


class TestService:
    """One that runs its program by `netnice`, as an ordinary user."""

    def test_it_yields_where_it_is(self, steps: dict[str, Step]) -> None:
        assert value(steps["job"], "{")["connections"] == {"netnice1": 1}
        assert "0::/system.slice/job.service" in lines(steps["job"])

    def test_its_filter_and_its_account(self, steps: dict[str, Step]) -> None:
        """IPAddressDeny and IPAccounting: also while netnice goes and comes back."""
        assert {"the filter holds", "its traffic is accounted for"} <= set(lines(steps["job"]))
        assert lines(steps["without"]) == ["the filter holds"] * 2 + ["active"]

    def test_its_limit_of_memory(self, steps: dict[str, Step]) -> None:
        assert str(64 << 20) in lines(steps["job"])
        assert lines(steps["hog"]) == ["oom-kill"]

    def test_systemctl_stop(self, steps: dict[str, Step]) -> None:
        assert lines(steps["stop"]) == ["it ended"]


def test_an_upgrade_under_a_thousand_connections(steps: dict[str, Step]) -> None:
    """None is lost, each is at its level, and the new build is loaded."""
    step = steps["upgrade"]
    assert "carried 1000" in lines(step)
    assert "loaded by another build" in step.said
    status = value(step, "{")
    assert status["same_build"]
    assert '"netnice1": 2000' in step.said


def test_nothing_is_left_when_it_is_removed(steps: dict[str, Step]) -> None:
    assert lines(steps["removed"]) == []
