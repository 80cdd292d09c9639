# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Behind fq, where each segment leaves when it is due: windows below one segment, and what is found of the spare."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.frontier import today
from netnice_lab.engine import machine
from netnice_lab.engine.programs import Programs
from netnice_lab.measures import results
from netnice_lab.model.protocols import protocol
from netnice_lab.model.traffic import Bulk, Change

RTT_MS = 20.0
QDISC = "qdisc replace dev bulk-1 root"
ONE = 4096  # force_window counts in 1/4096 segment
SETTLED, END = 4_000_000, 24_000_000  # us
TOGETHER = 3_000  # us between the ACKs of one pair


def gaps(window: int, changes: tuple[Change, ...], built: Programs) -> np.ndarray:
    """Between pairs, as parts of the ideal: two round trips over the window. The receiver acknowledges each segment."""
    chosen = protocol("netnice").with_parameters(force_window=window, max_gap=0, peer_gap=0)
    scenario = today(chosen, rate=100.0, rtt=RTT_MS, flows=1)
    (bulk,) = (one for one in scenario.traffic if isinstance(one, Bulk))
    scenario = replace(
        scenario,
        topology=replace(scenario.topology, quick_acks=("home",)),
        traffic=(bulk, *changes),
        duration=END / 1e6,
        warm_up=2.0,
        sample=0.001,
    )
    flow = results.samples(machine.execute(scenario.render()))["flow"]
    acked = flow.acked.diff() > 0
    times = flow.us[acked & (flow.us > SETTLED)].to_numpy(float)
    pairs = times[np.diff(times, prepend=0) > TOGETHER]
    found: np.ndarray = np.diff(pairs) / (2e3 * RTT_MS * ONE / window)
    return found


@pytest.mark.parametrize("qdisc", ["pfifo", "fq"])
@pytest.mark.parametrize("window", [ONE // 2, ONE // 8, 85], ids=["1/2", "1/8", "1/48"])
def test_gaps_of_pairs(window: int, qdisc: str, built: Programs, no_kept_results: Path) -> None:
    found = gaps(window, (Change(0.0, "bulk", f"{QDISC} {qdisc}"),), built)
    assert len(found) >= 8
    assert np.abs(found - 1).max() <= 0.1, (found.min(), found.max())


def test_nothing_leaves_early_when_fq_goes(built: Programs, no_kept_results: Path) -> None:
    """The kernel goes on leaving a connection to fq that has met it once; what fq holds is lost with it."""
    there = Change(0.0, "bulk", f"{QDISC} fq")
    gone = Change(END / 2e6, "bulk", f"{QDISC} pfifo")
    assert gaps(ONE // 8, (there, gone), built).min() >= 0.9


def test_what_is_spare_is_found(built: Programs, no_kept_results: Path) -> None:
    """Beside documents; less, as what fq was given cannot be taken back when the path turns out to be free."""
    usual = today("netnice", rate=10.0, flows=4, duration=40.0)
    behind = replace(usual, traffic=(*usual.traffic, Change(0.0, "bulk", f"{QDISC} fq")))
    without, found = (results.metrics(run, machine.execute(run)) for run in (usual.render(), behind.render()))
    assert found["background"] >= 0.7 * without["background"], (found["background"], without["background"])
    assert found["latency_geometric"] <= 1.02 * without["latency_geometric"]
