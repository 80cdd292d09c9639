# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From a guest's files to the numbers of a run: documents, levels over time, kept shares."""

import numpy as np
import pandas as pd
import pytest

from experiments.tcp_nicer import levels
from experiments.tcp_nicer.levels import Arrival, Beside
from netnice_lab.engine import sweep
from netnice_lab.measures import over_time, results
from netnice_lab.model import catalogue
from netnice_lab.model.output import Output, Sampled
from netnice_lab.model.scenario import Run

DOCUMENTS = """client,asked_us,size,first_us,acked_us,arrived_us
0,500000,1000,600000,900000,800000
0,2000000,1000,2100000,2500000,2400000
1,3000000,3000,3200000,3300000,3250000
1,9000000,9000,9500000,0,0
"""


def test_a_document_takes_from_its_first_byte_to_its_last_ack() -> None:
    run = Run(setup="", plan="", seed=1, parameters={}, warm_up=1.0, window=10.0)
    found = results.document_metrics(run, Output({"documents.csv": DOCUMENTS}, 0.0, 0.0, "key"))
    assert found["documents"] == 3, "the first came in the warm-up"
    assert found["unfinished"] == 1, "it counts with the time until the end"
    assert found["latency"] == pytest.approx((400 + 100 + 1500) / 3)
    assert found["response"] == pytest.approx((400 + 250 + 2000) / 3)
    assert found["foreground"] == pytest.approx(4000 * 8 / 1e6 / 10)


def test_measured_names_groups_and_neither_keys_nor_the_run() -> None:
    rows = pd.DataFrame(
        [
            {
                "experiment": "x",
                "rate": 10.0,
                "seed": 1,
                "digest": "d",
                "cpu_seconds": 0.1,
                "upper": 9.5,
                "upper_rtt": 0.0,
            }
        ]
    )
    assert results.measured(rows, ["rate"]) == ["upper"]


NONE = pd.DataFrame()
MBIT = 125_000
"""Bytes a second."""


def flow(number: int, rates: list[tuple[float, float]], rtt: int = 40_000) -> pd.DataFrame:
    """A flow's samples every 0.1 s: (until which second, Mbit/s) in turns."""
    times = np.arange(0, rates[-1][0] + 0.05, 0.1)
    speed = [next(rate for end, rate in rates if at <= end + 1e-9) for at in times]
    acked = np.concatenate([[0.0], np.cumsum(speed[1:])]) * 0.1 * MBIT
    return pd.DataFrame({"us": (times * 1e6).astype(int), "id": number, "acked": acked.astype(int), "rtt_us": rtt})


def test_beside_tells_the_start_from_the_settled_part() -> None:
    upper = flow(0, [(10.0, 8.0), (20.0, 2.0), (40.0, 6.0)])
    upper.loc[upper.us.between(10e6, 20e6), "rtt_us"] = 80_000
    lower = pd.concat([flow(number, [(10.0, 0.0), (40.0, 1.0)]) for number in (1, 2)])
    groups = {"upper": [0], "lower": [1, 2]}
    found = Beside(10.0, 20.0, 10.0).numbers(Sampled(groups, 40.0, pd.concat([upper, lower]), NONE))
    assert found["upper"] == pytest.approx(6.0, abs=0.01)
    assert found["upper_start"] == pytest.approx(2.0, abs=0.01)
    assert found["filled"] == pytest.approx(0.8, abs=0.001)
    assert found["upper_latency_start"] == pytest.approx(80.0, abs=0.5)
    assert found["upper_latency"] == pytest.approx(40.0, abs=0.5)


def test_beside_counts_spikes_and_tells_how_steady_and_how_far_ahead_it_is() -> None:
    upper = flow(0, [(20.0, 8.0), (25.0, 6.0), (26.0, 1.0), (30.0, 6.0), (32.0, 1.0), (40.0, 6.0)])
    upper.loc[upper.us.between(12e6, 13e6), "rtt_us"] = 90_000
    lower = pd.concat([flow(number, [(40.0, 0.5)]) for number in (1, 2)])
    found = Beside(10.0, 20.0, 10.0).numbers(
        Sampled({"upper": [0], "lower": [1, 2]}, 40.0, pd.concat([upper, lower]), NONE)
    )
    assert found["upper_spikes"] == 2, "one of a second, one of two"
    assert found["upper_spread"] == pytest.approx(np.std([6.0] * 17 + [1.0] * 3) / 5.25, abs=0.01)
    assert found["ahead"] == pytest.approx(5.25, abs=0.02)
    assert found["upper_latency_peak"] == pytest.approx(90.0, abs=0.5)
    steady = Beside(10.0, 20.0, 10.0).numbers(Sampled({"upper": [0]}, 40.0, flow(0, [(40.0, 5.0)]), NONE))
    assert (steady["upper_spikes"], "ahead" in steady) == (0, False)
    assert steady["upper_spread"] == pytest.approx(0.0, abs=0.001)


def test_a_newcomer_is_ahead_by_its_second_half() -> None:
    both = pd.concat(
        [flow(0, [(10.0, 9.0), (25.0, 9.0), (40.0, 3.0)]), flow(1, [(10.0, 0.0), (25.0, 0.5), (40.0, 6.0)])]
    )
    found = Arrival(10.0, 0.1, 9.564).numbers(Sampled({"older": [0], "newcomer": [1]}, 40.0, both, NONE))
    assert found["ahead"] == pytest.approx(2.0, abs=0.02)


def test_a_newcomer_holds_what_it_keeps_for_fifty_round_trips() -> None:
    newcomer = flow(1, [(10.0, 0.0), (10.5, 9.6), (13.0, 1.0), (40.0, 9.6)])
    groups = {"older": [0], "newcomer": [1]}
    held = Arrival(10.0, 0.1, 9.564).numbers(Sampled(groups, 40.0, newcomer, NONE))["held"]
    assert held == pytest.approx(27, abs=3), "the first half second is no hold; up to a tenth of 5 s may be less"
    slow = flow(1, [(10.0, 0.0), (40.0, 5.0)])
    held = Arrival(10.0, 0.1, 9.564).numbers(Sampled(groups, 40.0, slow, NONE))["held"]
    assert held == pytest.approx(300, abs=2), "never: to the end"


def test_curves_have_a_line_a_group() -> None:
    samples = {"flow": pd.concat([flow(0, [(10.0, 4.0)]), flow(1, [(10.0, 1.0)]), flow(2, [(10.0, 1.0)])])}
    groups = {"upper": [0], "lower": [1, 2]}
    rates, delays = over_time.rates(groups, samples), over_time.delays(groups, samples)
    assert list(rates) == list(delays) == ["upper", "lower"]
    assert rates.lower.mean() == pytest.approx(2.0, abs=0.05)
    assert delays.upper.mean() == pytest.approx(40.0)


def test_the_end_of_a_run_is_its_last_sample() -> None:
    samples = {"flow": flow(0, [(39.9, 8.0)])}
    found = Beside(10.0, 20.0, 10.0).numbers(Sampled({"upper": [0]}, 40.0, samples["flow"], NONE))
    assert found["upper"] == pytest.approx(8.0, abs=0.001)


def test_what_is_kept_is_a_part_of_the_same_seed_alone() -> None:
    rows = [
        {"pair": "a:b", "flows": flows, "seed": seed, "upper": 10.0 * seed - flows, "upper_latency": 40.0 + flows,
         "upper_start": 1.0, "upper_latency_start": 1.0}
        for flows in (0, 1) for seed in (1, 2)
    ]  # fmt: skip
    found = levels.kept(pd.DataFrame(rows), ["pair"])
    assert list(found.kept) == [0.9, 0.95]
    assert list(found.latency) == [1.025, 1.025]


def test_the_payload_of_small_packets_is_less() -> None:
    assert levels.payload(10.0) == pytest.approx(9.564, abs=0.001)
    assert levels.payload(levels.PAPER_RATE) == pytest.approx(0.2624, abs=0.0001)


def test_cells_that_do_not_exist_are_left_out() -> None:
    found = catalogue.load("nicer-pairs")
    assert all((cell["rate"] == 0.3) == (cell["buffer"] == 8.5) for cell in found.cells())
    assert all(float(cell["rate"]) >= 100 for cell in found.cells() if str(cell["pair"]).startswith("cubic"))
    assert {task.cell["rate"] for task in sweep.tasks([found], quick=True)} == {0.3, 10.0}
