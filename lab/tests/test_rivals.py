# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Flavours against each other: points, ranking, their figures, and the link that varies under them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.low_priority import access, course, figures, kernel_lp, rates, standings
from netnice_lab.engine import machine, sweep
from netnice_lab.engine.programs import Programs
from netnice_lab.measures import results
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Figure
from netnice_lab.model.output import Sampled

NAMES = ("pair", "seed", "first", "second")


def runs() -> pd.DataFrame:
    """Three flavours, two seeds: a always beats c, b does so once, a and b win once each."""
    rows = [("a:b", 1, 9.0, 5.0), ("a:b", 2, 5.0, 9.0), ("a:c", 1, 9.0, 1.0), ("a:c", 2, 9.0, 1.0)]
    rows += [("b:c", 1, 9.0, 1.0), ("b:c", 2, 1.0, 9.0), ("b:b", 1, 9.0, 8.0)]
    return pd.DataFrame(rows, columns=NAMES)


def test_the_ranking_counts_each_flavours_own_runs_lowest_first() -> None:
    table = figures.ranking(runs())
    assert list(table["first"].drop_duplicates()) == ["c", "b", "a"]
    parts = table.set_index(["first", "second"]).part
    assert parts["a", "c"] == pytest.approx(2 / 4)
    assert parts["a", "b"] == parts["b", "a"] == parts["b", "c"] == parts["c", "b"] == pytest.approx(1 / 4)
    assert parts["c", "a"] == 0


def test_points_are_parts_of_what_that_seeds_link_carries() -> None:
    points = figures.points(runs())
    one = points[(points["first"] == "c") & (points["second"] == "a")]
    assert list(one.first_part) == [pytest.approx(1 / access.pair_capacity("wifi", seed)) for seed in (1, 2)]
    assert list(one.second_part) == [pytest.approx(9 / access.pair_capacity("wifi", seed)) for seed in (1, 2)]


@pytest.mark.verify("it draws, by matplotlib")
@pytest.mark.parametrize("name", ["lbe-fig3", "lbe-fig4"])
def test_matrix_and_ranking_can_be_drawn(name: str, tmp_path: Path) -> None:
    from netnice_lab.publishing import plot

    found = replace(catalogue.load(name), name=name)
    paths = plot.draw(found, runs(), tmp_path)
    assert [path.suffix for path in paths] == [".svg", ".png"]
    assert all(path.stat().st_size > 5000 for path in paths)


def test_figures_3_and_4_of_the_report_are_the_same_runs() -> None:
    three, four = (sweep.tasks([catalogue.load(name)], seeds=1) for name in ("lbe-fig3", "lbe-fig4"))
    assert [t.run for t in three] == [t.run for t in four]


@pytest.mark.parametrize("name", ["lbe-fig3", "lbe-fig4", "lbe-fig4-nice"])
def test_each_pair_of_flavours_has_twenty_random_starts(name: str) -> None:
    found = catalogue.load(name)
    assert {found.seeds_of(cell) for cell in found.cells()} == {20}


def test_the_reports_flavours_have_ten_runs_on_each_access() -> None:
    found = catalogue.load("lbe-fig5")
    assert {cell["link"] for cell in found.cells()} == {"lan", "lan-far", "wifi", "adsl", "adsl-far"}
    assert {found.seeds_of(cell) for cell in found.cells() if cell["protocol"] in access.REPORTED} == {10}


def test_the_five_of_the_report_are_ranked_among_themselves() -> None:
    pairs = [
        ("cubic:reno", 9.0, 1.0),
        ("cubic:nice-0.2", 9.0, 1.0),
        ("reno:nice-0.2", 1.0, 9.0),
        ("cubic:bbr", 1.0, 9.0),
    ]
    frame = pd.DataFrame([(pair, 1, first, second) for pair, first, second in pairs], columns=NAMES)
    lines = standings.table({"lbe-fig4": (catalogue.load("lbe-fig4"), frame)}).splitlines()
    assert lines[2:] == [
        "| reno | 0.00 | 0.00 | – | – | – | 0.00 |",
        "| nice-0.2 | 0.50 | 0.00 | 0.50 | – | – | – |",
        "| cubic | 1.00 | – | 0.50 | – | – | 0.50 |",
    ]


def test_without_an_offset_is_a_setting_of_every_host_and_all_else_is_the_same() -> None:
    random, plain = (kernel_lp.beside_or_alone(stamps, "lp", "reno", 1).render().plan for stamps in kernel_lp.STAMPS)
    added = sorted(set(plain.splitlines()) - set(random.splitlines()))
    assert added == [f"sysctl {host} ipv4/tcp_timestamps 2" for host in ("first", "home", "second")]
    assert "tcp_timestamps" not in random
    assert random == access.pair("reno", "lp", "wifi", 1).render().plan


def test_the_course_has_ten_seconds_of_each_flavour_and_five_of_pause() -> None:
    plan = course.turns(access.NICE, "lp", 1).render().plan
    flows = [line.split() for line in plan.splitlines() if line.startswith("bulk ")]
    assert [(int(one[7]) / 1e6, int(one[8]) / 1e6) for one in flows[:5]] == [
        (5 + 15 * n, 15 + 15 * n) for n in range(5)
    ]
    assert [one[5] for one in flows] == ["cubic", "reno", "vegas", "lp", "nice", "nice"]
    assert flows[5][8] == "0", "NICE beside them does not end"


def flow(number: int, begin: float, end: float, mbits: float, rtt_us: int) -> pd.DataFrame:
    times = np.arange(0, 80.05, 0.1)
    acked = np.clip(times - begin, 0, end - begin) * mbits * 125_000
    rows = {"us": (times * 1e6).astype(int), "id": number, "acked": acked.astype(int)}
    return pd.DataFrame(rows | {"rtt_us": np.where(times >= begin, rtt_us, 0)})


def test_a_turn_is_measured_beside_what_the_background_got_meanwhile() -> None:
    begin = course.BEGINS["lp"]
    both = pd.concat([flow(0, begin, begin + 10, 9.0, 50_000), flow(1, 0.0, begin + 5, 3.0, 40_000)])
    found = course.Turn("lp").numbers(Sampled({"lp": [0], "background": [1]}, 80.0, both, both))
    assert found["turn_rate"] == pytest.approx(9.0, abs=0.01)
    assert found["turn_rtt"] == pytest.approx(50.0)
    background = 3.0 * 2 / 7  # of the seven seconds, two
    assert found["turn_share"] == pytest.approx(9 / (9 + background), abs=0.001)


def test_each_of_two_connections_is_measured_by_itself() -> None:
    both = pd.concat([flow(0, 0.0, 80.0, 4.0, 1), flow(1, 0.0, 80.0, 6.0, 1)])
    found = rates.Each(5.0).numbers(Sampled({"first": [0, 1]}, 20.0, both, both))
    assert found == {"slower": pytest.approx(4.0, abs=0.01), "faster": pytest.approx(6.0, abs=0.01)}
    assert list(rates.connections(pd.DataFrame([found])).each) == pytest.approx([4.0, 6.0], abs=0.01)


@pytest.mark.verify("it draws, by matplotlib")
def test_a_box_is_of_the_rows_or_of_the_quantiles_that_each_has() -> None:
    from netnice_lab.publishing import plot

    rows = pd.DataFrame({"link": "a", "protocol": "b", "rate": np.arange(101.0)})
    figure = Figure("link", "rate", "protocol", "", "", kind="boxes")
    assert plot.box(figure, rows) == {"whislo": 5.0, "q1": 25.0, "med": 50.0, "q3": 75.0, "whishi": 95.0}
    own = pd.DataFrame(
        [{"rate": 1.0, **{f"rate_{name}": at + seed for at, (name, _) in enumerate(plot.BOX)}} for seed in (0, 2)]
    )
    assert plot.box(figure, own) == {"whislo": 1.0, "q1": 2.0, "med": 3.0, "q3": 4.0, "whishi": 5.0}
    assert plot.boxes(figure, rows).axes


@pytest.mark.parametrize("seed", [1, 5])
def test_a_link_that_varies_carries_its_rates(built: Programs, no_kept_results: Path, seed: int) -> None:
    run = figures.meeting("cubic:cubic", seed).render()
    metrics = results.metrics(run, machine.execute(run))
    assert metrics["total"] == pytest.approx(access.pair_capacity("wifi", seed), rel=0.01)


def test_an_upload_through_the_modem_fills_its_buffer(built: Programs, no_kept_results: Path) -> None:
    found = catalogue.load("lbe-reverse")
    run = found.at({"protocol": "netnice", "reverse": "cubic", "stamps": True}, 1).render()
    metrics = results.metrics(run, machine.execute(run))
    assert metrics["queue_p95"] > 0.7 * access.LINKS["plain"].buffer
