# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.vulture import report, scenarios, testbed
from netnice_lab.engine import sweep
from netnice_lab.judgement import recorded
from netnice_lab.measures import results
from netnice_lab.model import catalogue
from netnice_lab.model.output import Output, Sampled

GROUPS = {"foreground": [0], "reverse": [1], "background": [2]}


def flow(number: int, rate: list[tuple[float, float]]) -> pd.DataFrame:
    """A flow's samples every 0.1 s: (until which second, Mbit/s) in turns."""
    times = np.arange(0, rate[-1][0] + 0.05, 0.1)
    speed = [next(r for end, r in rate if at <= end + 1e-9) for at in times]
    acked = (np.concatenate([[0.0], np.cumsum(speed[1:])]) * 0.1 / 8e-6).astype(int)
    rows = {"us": (times * 1e6).astype(int), "id": number, "acked": acked, "rtt_us": 100_000, "retrans": 0}
    return pd.DataFrame(rows | {"window": 20 << 16})


def test_found_is_the_end_of_the_first_half_second_at_four_fifths() -> None:
    capacity = testbed.CAPACITY
    slow = flow(2, [(10.0, 0.1), (13.0, 0.5 * capacity), (40.0, capacity)])
    assert testbed.found(slow, 2, 10.0, 40.0) == pytest.approx(3.3, abs=0.15)
    assert testbed.found(slow, 2, 0.0, 10.0) == 10.0, "never: the whole period"


def advertised(windows: dict[float, int], end: float) -> pd.DataFrame:
    """A receiver's samples every 0.1 s: from which second on which window."""
    times = np.arange(0, end + 0.05, 0.1)
    window = [next(w for begin, w in reversed(windows.items()) if at >= begin - 1e-9) for at in times]
    us = (times * 1e6).round().astype(int)
    return pd.DataFrame({"us": us, "port": 5003, "window": window, "target": window, "estimate": 20_000})


def test_use_and_shares_are_of_means_over_the_periods_after_the_first() -> None:
    capacity = testbed.CAPACITY
    theirs = flow(0, [(5.0, 0.0), (15.0, 9.0), (25.0, 0.0), (35.0, 8.0), (45.0, 0.0), (55.0, 6.0), (65.0, 0.0)])
    ours = flow(2, [(25.0, 3.0), (35.0, 1.0), (45.0, capacity / 2), (55.0, 2.0), (65.0, capacity)])
    receiver = advertised({0.0: 9000, 35.3: 12_000, 36.0: 9000, 55.1: 12_000}, 65.0)
    sampled = Sampled(GROUPS, 65.0, pd.concat([theirs, ours]), receiver)
    found = testbed.OnOff(10).numbers(sampled)
    assert found["use"] == pytest.approx(0.75, abs=1e-3)
    assert found["share"] == pytest.approx(1.5 / 8.5, abs=1e-3)
    assert found["filled"] == pytest.approx((7 + 1.5 + 0.75 * capacity) / 2 / capacity, abs=1e-3)
    assert found["found"] == pytest.approx((10 + 0.5) / 2, abs=0.1)
    assert found["noticed"] == pytest.approx((0.3 + 0.1) / 2, abs=0.01)
    assert (found["first_second"], found["foreground_first_second"]) == pytest.approx((1.5, 7.0), abs=1e-3)
    alone = testbed.OnOff(10).numbers(replace(sampled, groups={"foreground": [0], "reverse": [1]}))
    assert alone["filled"] == pytest.approx((7 + capacity) / 2 / capacity, abs=1e-3), "beside an ideal background"


def test_of_a_part_of_the_link_that_is_set_free_80_percent_have_to_be_found() -> None:
    some = testbed.OnOff(10, freed=5.0)
    assert some.finds(flow(2, [(10.0, 4.0), (13.0, 7.9), (20.0, 8.1)]), 2, 10.0) == pytest.approx(3.3, abs=0.3)
    more = flow(2, [(10.0, 6.0), (13.0, 8.4), (20.0, 8.7)])
    assert some.finds(more, 2, 10.0) == pytest.approx(3.3, abs=0.3), "it had more than was left to it"


def test_jains_index_is_the_square_of_the_sum_over_n_times_the_sum_of_squares() -> None:
    run = scenarios.fairness("tide", 4).render()
    rows = [f"{number},cubic,0,{size}000000,0,100000,100000,655360" for number, size in enumerate((1, 1, 1, 3))]
    lines = ["id,cc,bytes,measured_bytes,retrans,srtt_us,min_rtt_us,window", *rows]
    found = results.flow_metrics(run, Output({"flows.csv": "\n".join(lines) + "\n"}, 0.0, 0.0, "key"))
    assert found["background_fairness"] == pytest.approx(6**2 / (4 * (1 + 1 + 1 + 9)))
    assert found["background"] == pytest.approx(6 * 8 / run.window)


def test_a_foreground_before_beside_and_after_the_background() -> None:
    waves = [(49.0 + i, 5.0 if i % 2 else 7.0) for i in range(86)]
    theirs = flow(0, [(45.0, 6.0), (48.0, 5.0), *waves, (135.0, 6.0), (180.0, 5.4)])
    found = testbed.steady(pd.concat([theirs, flow(2, [(45.0, 0.0), (135.0, 1.0), (180.0, 0.0)])]), GROUPS)
    assert found["lost_at_first"] == pytest.approx(1.0, abs=1e-3)
    assert found["foreground_again"] == pytest.approx(1.0, abs=1e-3)
    assert found["foreground_after"] == pytest.approx(0.9, abs=1e-3)
    assert found["oscillation"] == pytest.approx((86 / 87) ** 0.5, abs=1e-2)


def test_a_flow_that_is_switched_beside_another() -> None:
    theirs = flow(0, [(45.0, 6.0), (46.0, 4.0), (49.0, 5.4), (135.0, 6.0), (140.0, 4.0), (180.0, 5.0)])
    theirs.loc[theirs.us.between(135e6, 140e6), "rtt_us"] = 120_000
    ours = flow(2, [(45.0, 2.0), (46.0, 3.0), (135.0, 1.0), (140.0, 3.0), (180.0, 5.0)])
    found = testbed.beside_switched(pd.concat([theirs, ours]), advertised({0.0: 0, 45.0: 9000}, 180.0), GROUPS)
    wanted = {
        "share_before": 0.25,
        "first_second": 3.0,
        "foreground_soon": 0.9,
        "share_after": 0.5,
        "turbulence_goodput": 0.7,
        "turbulence_rtt": 1.2,
    }
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-2)


def test_a_flow_alone_is_back_after_its_last_second_below_four_fifths() -> None:
    capacity = testbed.CAPACITY
    receiver = advertised({0.0: 0, 45.0: 9000}, 180.0)
    dips = flow(2, [(50.0, capacity), (52.0, 0.5 * capacity), (60.0, capacity), (63.0, 0.1), (180.0, capacity)])
    found = testbed.Alone().numbers(Sampled(GROUPS, 180.0, dips, receiver))
    assert (found["back"], found["kept_after"]) == pytest.approx((18.0, 1.0), abs=1e-3)
    steady = flow(2, [(135.0, 0.9 * capacity), (180.0, 0.45 * capacity)])
    found = testbed.Alone().numbers(Sampled(GROUPS, 180.0, steady, receiver))
    assert (found["back"], found["kept_after"]) == pytest.approx((0.0, 0.5), abs=1e-3)


def test_the_window_at_the_switch_is_compared_with_the_estimate_before_it() -> None:
    both = pd.concat([flow(0, [(180.0, 6.0)]), flow(2, [(180.0, 1.782)])])
    us = (np.arange(0, 180, 0.1) * 1e6).astype(int)
    held = (us > 45e6) & (us <= 135e6)
    receiver = pd.DataFrame({"us": us, "port": 5003, "window": np.where(held, 9000, 0), "target": 0, "estimate": 10000})
    found = testbed.beside_switched(both, receiver, GROUPS)
    assert found["taken"] == pytest.approx(0.9)
    assert found["foreground_got"] == pytest.approx(1.0, abs=0.001)
    assert found["use"] == pytest.approx(0.5, abs=0.001)


def test_the_estimate_is_held_against_the_window_that_limits() -> None:
    ours = flow(2, [(180.0, 6.0)])
    held = (ours.us > 45e6) & (ours.us <= 135e6)
    receiver = pd.DataFrame(
        {
            "us": ours.us,
            "port": 5001,
            "window": np.where(held, 10 * 1448, 0),
            "target": 0,
            "estimate": np.where(held, 11 * 1448, 17 * 1448),
        }
    )
    found = testbed.estimate(ours, receiver, GROUPS)
    assert found["estimate"] == pytest.approx(0.85)
    assert found["estimate_held"] == pytest.approx(1.1)
    assert found["estimate_follows"] == pytest.approx(0.0)


def test_no_number_of_the_paper_is_held_against_one_run_of_the_faithful_core() -> None:
    held = 0
    for name in catalogue.names():
        found = catalogue.load(name)
        for bar in found.bars:
            core = bar.cell.get("receiver") == report.FAITHFUL
            if core or bar.says.startswith("faithful, ") or name == "vulture-samples":
                rows = [recorded.seeds(name, cell) for cell in found.cells() if bar.cell.items() <= cell.items()]
                assert all(len(seeds) >= report.RUNS for seeds in rows), (name, bar.says)
                held += len(rows)
    assert held > 20


def test_what_a_window_of_one_segment_gets_a_round_trip_is_one_segment() -> None:
    one = 1448 * 8 / 0.1 / 1e6  # RTTs of flow() are 100 ms
    both = pd.concat([flow(0, [(60.0, 9.0)]), flow(2, [(60.0, one)])])
    assert testbed.a_round(both, GROUPS, 60.0)["a_round"] == pytest.approx(1.0, abs=0.01)
    assert testbed.a_round(both, {"foreground": [0]}, 60.0) == {}


def test_a_longer_run_is_measured_to_45_seconds_before_its_end() -> None:
    both = pd.concat([flow(0, [(600.0, 6.0)]), flow(2, [(45.0, 0.0), (555.0, 1.782), (600.0, 0.0)])])
    assert testbed.steady(both, GROUPS, 600.0)["use"] == pytest.approx(0.5, abs=0.001)


def test_a_clock_that_drifts_is_the_receivers_parameter() -> None:
    plain, fast = (scenarios.on_off("tide", 5, drift=parts).render().setup for parts in (0, 100))
    assert "skew" not in plain
    assert " set /sys/fs/bpf/receiver tide skew=100" in fast


@pytest.mark.verify("it draws, by matplotlib")
def test_a_timeline_is_drawn_from_the_first_seed_of_its_cell(tmp_path: Path) -> None:
    from netnice_lab.publishing import plot

    found = catalogue.load("vulture-fig9")
    task = sweep.tasks([found], {"receiver": ["tide"]})[0]
    groups = task.run.groups
    rows = pd.concat([flow(groups[name][0], [(5.0, 2.0), (20.0, 9.0)]) for name in ("foreground", "background")])
    lines = [f"flow,{r.us},{r.id},{r.acked},{r.rtt_us},{r.window},{r.retrans}" for r in rows.itertuples()]
    output = Output({"samples.csv": "\n".join(lines) + "\n"}, 0.0, 0.0, "key")
    written = plot.draw_timelines(found, [(task, output), (replace(task, seed=2), output)], tmp_path)
    assert [path.name for path in written] == ["vulture-fig9-time.svg", "vulture-fig9-time.png"]
    assert plot.draw_timelines(found, [(replace(task, experiment="other"), output)], tmp_path) == []
