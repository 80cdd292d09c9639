# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Experiments of TCP Nice: the theorem, paths over the Internet, the distribution, and visits of a site in a guest."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.tcp_nice import drive
from experiments.tcp_nice.hours import LOADS, hourly
from experiments.tcp_nice.internet import PATHS, PAYLOAD, parts, transfer
from experiments.tcp_nice.prefetching import visited
from experiments.tcp_nice.replication import EACH, LINES, REGIONS, Distribution, distribution, mean_while, network
from experiments.tcp_nice.theorem import (
    BUFFERS,
    MANY,
    MU,
    NICES,
    RENOS,
    STEPS,
    TAU,
    THRESHOLDS,
    bound,
    integrate,
    interference,
)
from experiments.tcp_nice.theorem import (
    Path as FluidPath,
)
from netnice_lab.engine import machine
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.measures import results
from netnice_lab.model.output import Sampled
from netnice_lab.model.scenario import Run
from netnice_lab.model.traffic import Bulk, Change, Documents
from netnice_lab.model.visits import Visits

CELLS = list(itertools.product(RENOS, BUFFERS, (*NICES, MANY), THRESHOLDS))


def test_the_bound_is_equation_1() -> None:
    assert bound(FluidPath(mu=1000, tau=0.1, buffer=100), 1, 0.2) == pytest.approx(4 * 4.248e-18 / 100, rel=1e-3)


def test_the_fluid_interference_is_at_most_the_bound_in_all_sixty_cells() -> None:
    """But for the integration's own error."""
    over = [
        (reno, buffer, nice, threshold)
        for reno, buffer, nice, threshold in CELLS
        if interference(FluidPath(MU, TAU, buffer), reno, nice, threshold / 100)
        > bound(FluidPath(MU, TAU, buffer), reno, threshold / 100) + 0.05 / STEPS
    ]
    assert len(CELLS) == 60
    assert over == []


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_windows_and_periods_become_steady(cell: tuple[int, int, int, int]) -> None:
    reno, buffer, nice, threshold = cell
    *_, last = found = integrate(FluidPath(MU, TAU, buffer), reno, nice, threshold / 100)
    for one in found[-6:]:
        assert one.reno == pytest.approx(last.reno, rel=0.01)
        assert one.nice == pytest.approx(last.nice, rel=0.01, abs=0.01)
        assert one.seconds == pytest.approx(last.seconds, rel=0.01)


def test_an_action_is_a_primary_and_its_secondaries() -> None:
    assert parts("reno/null") == ("reno", "none", 0)
    assert parts("reno/nice8") == ("reno", "nice", 8)
    assert parts("cubic/netnice") == ("cubic", "netnice", 1)
    flows = [t for t in transfer("cable", "reno/nice8", 1).traffic if isinstance(t, Bulk)]
    assert [(t.flows, t.congestion_control) for t in flows] == [(8, "nice")]


def test_a_transfer_is_what_the_path_carries_in_its_time() -> None:
    assert PATHS["cable"].size(1) == pytest.approx(1_500_000 * 10 / 8 * PAYLOAD, abs=1)
    sizes = [PATHS["lte"].size(seed) for seed in range(1, 9)]
    assert len(set(sizes)) == len(sizes), "every seed begins at another moment of the drive"
    assert min(sizes) > 1_000_000


def test_the_drive_begins_anew_at_its_end() -> None:
    lasting = len(drive.PACKETS) * drive.EVERY
    assert lasting == 240
    assert drive.rates(lasting - 1, 2) == drive.rates(lasting - 1, 1) + drive.rates(0, 1)
    assert min(drive.rates(0, lasting)) == drive.LEAST
    assert np.mean(drive.rates(0, lasting)) == pytest.approx(12.7e6, rel=0.05)


def test_the_satellites_rtt_steps_within_its_bounds() -> None:
    steps = [t for t in transfer("satellite", "reno/reno8", 2).traffic if isinstance(t, Change)]
    times = np.diff([t.at for t in steps])
    assert len(steps) > 3 and times == pytest.approx(15.0)
    delays = [int(t.command.split("delay ")[1].split("us")[0]) for t in steps]
    assert min(delays) >= 30_000 and max(delays) <= 60_000 and len(set(delays)) > 3


def test_an_hours_others_are_the_same_for_every_action_and_as_busy_as_it_says() -> None:
    def others(hour: int, action: str) -> Documents:
        (found,) = [t for t in hourly("london", hour, action, 1).traffic if isinstance(t, Documents)]
        return found

    for hour, load in LOADS.items():
        documents = others(hour, "reno/null").documents
        assert documents == others(hour, "reno/netnice8").documents
        asked = sum(document.size for document in documents) * 8 / 20
        assert asked == pytest.approx(load * PATHS["london"].rate, rel=0.01)


COLUMNS = ["client", "asked_us", "first_us", "acked_us", "arrived_us"]


def test_what_was_asked_for_after_the_transfer_does_not_count() -> None:
    rows = [
        (1, 1_000_000, 1_000_000, 1_100_000, 1_050_000),
        (1, 2_000_000, 2_000_000, 2_300_000, 2_200_000),
        (1, 5_000_000, 5_000_000, 5_001_000, 5_001_000),
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    # for one second 100 ms, for three 300: the last came after its end
    assert mean_while(frame, {1: 4e6}, "acked_us", 9e6) == pytest.approx((100 + 3 * 300) / 4)
    assert mean_while(frame, {1: 4e6}, "arrived_us", 9e6) == pytest.approx((50 + 3 * 200) / 4)
    assert mean_while(frame, {1: 1.5e6}, "acked_us", 9e6) == pytest.approx(100)


def test_what_did_not_arrive_waits_until_the_end() -> None:
    rows = [(1, 1_000_000, 1_000_000, 0, 0), (1, 2_000_000, 2_000_000, 2_100_000, 2_100_000)]
    assert mean_while(pd.DataFrame(rows, columns=COLUMNS), {1: 4e6}, "acked_us", 9e6) == pytest.approx(8000)


def test_every_server_has_its_clients_and_its_throttle() -> None:
    made = distribution("reno", 96_000, 1)
    files = [t for t in made.traffic if isinstance(t, Documents) and t.group.endswith("file")]
    assert len(files) == REGIONS * EACH * len(LINES) == 200
    throttles = [t for t in made.traffic if isinstance(t, Change)]
    assert len(throttles) == REGIONS
    devices = dict(network().devices())
    for throttle in throttles:
        assert f"dev {devices[throttle.node]} root fq maxrate 96000bit" in throttle.command
    assert not [t for t in distribution("netnice", 0, 1).traffic if isinstance(t, Change)]


def test_a_groups_readers_are_its_own() -> None:
    readers = distribution("netnice", 0, 1).render().readers
    numbers = [number for group in readers.values() for number in group]
    assert len(numbers) == len(set(numbers)) == 3 * 200


def test_completion_times_are_from_the_wish_to_the_last_byte() -> None:
    readers = {
        f"{line} {what}": list(range(first, first + REGIONS * EACH))
        for first, (line, what) in zip(
            range(0, 10_000, REGIONS * EACH),
            ((line, what) for line in LINES for what in ("file", "ping", "request")),
            strict=False,
        )
    }
    rows = [
        (n, at, at, at + 1_000_000, at + 2_000_000)
        for name, numbers in readers.items()
        for n in numbers
        for at in ((1_000_000,) if name.endswith("file") else (1_000_000, 2_000_000))
    ]
    empty, frame = pd.DataFrame(), pd.DataFrame(rows, columns=COLUMNS)
    found = Distribution().numbers(Sampled({}, 9.0, empty, empty, frame, readers))
    assert found["time"] == pytest.approx(2)
    assert {found[f"{line}_late"] for line in LINES} == {0}


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
