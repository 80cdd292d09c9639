# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The programs that ship, visiting a site in a guest."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.tcp_nice.prefetching import visited
from netnice_lab.engine import machine
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.measures import results
from netnice_lab.model.scenario import Run
from netnice_lab.model.visits import Visits


def short(preset: str, protocol: str, seed: int = 1) -> Run:
    """A minute on the cable line."""
    made = visited("cable", preset, protocol, seed)
    (users,) = made.traffic
    assert isinstance(users, Visits)
    users = replace(users, warm_up=20.0, seconds=40.0, played=100)
    return replace(made, traffic=(users,), duration=62.0, warm_up=20.0).render()


def test_prefetching_is_of_use_and_bit_identical(built: Programs, no_kept_results: Path) -> None:
    without, eager = short("none", "reno"), short("aggressive", "netnice")
    nothing, ahead = (results.metrics(run, machine.execute(run)) for run in (without, eager))
    assert nothing["hits"] == nothing["prefetched"] == 0
    assert ahead["hits"] > 0.3
    assert ahead["waited"] < 0.8 * nothing["waited"]
    assert len({machine.execute(eager, fresh=True).digest for _ in range(2)}) == 1


def test_another_seed_has_other_visits(built: Programs, no_kept_results: Path) -> None:
    first, second = (machine.execute(short("none", "reno", seed)).digest for seed in (1, 2))
    assert first != second


def test_visits_that_leave_no_report_are_an_error(built: Programs, no_kept_results: Path) -> None:
    run = short("none", "reno")
    with pytest.raises(LabError, match="the guest failed"):
        machine.execute(replace(run, reports=(*run.reports, "visits-nobody.json")))


def report(**waits: float) -> str:
    """A home's report: what was waited for each URL, in ms; 0 is a hit."""
    demanded = [{"waited_ms": ms, "from": "network" if ms else "prefetch"} for ms in waits.values()]
    prefetched = {"bytes": 500_000, "wasted_bytes": 250_000}
    return json.dumps({"seconds": 8.0, "demanded": demanded, "demanded_bytes": 1_000_000, "prefetched": prefetched})


def test_homes_count_together() -> None:
    files: Mapping[str, str] = {"a": report(one=0, two=40), "b": report(three=20, four=60)}
    found = results.visit_metrics(["a", "b"], files)
    assert found["waited"] == 30
    assert found["hits"] == 0.25
    assert (found["demanded"], found["prefetched"], found["wasted"]) == (2.0, 1.0, 0.5)


def test_visits_without_demand_are_an_error() -> None:
    with pytest.raises(LabError, match="nothing was demanded"):
        results.visit_metrics(["a"], {"a": report()})
