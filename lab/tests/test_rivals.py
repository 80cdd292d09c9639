# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Who yields to whom: points, ranking, their figures, and the link that varies under them."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from experiments.low_priority import access, figures
from netnice_lab.engine import machine, sweep
from netnice_lab.engine.programs import Programs
from netnice_lab.measures import results
from netnice_lab.model import catalogue

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


@pytest.mark.parametrize("seed", [1, 5])
def test_a_link_that_varies_carries_what_its_weather_says(built: Programs, no_kept_results: Path, seed: int) -> None:
    run = figures.meeting("cubic:cubic", seed).render()
    metrics = results.metrics(run, machine.execute(run))
    assert metrics["total"] == pytest.approx(access.pair_capacity("wifi", seed), rel=0.01)


def test_an_upload_through_the_modem_fills_its_buffer(built: Programs, no_kept_results: Path) -> None:
    found = catalogue.load("lbe-reverse")
    run = found.at({"protocol": "netnice", "reverse": "cubic", "stamps": True}, 1).render()
    metrics = results.metrics(run, machine.execute(run))
    assert metrics["queue_p95"] > 0.7 * access.LINKS["plain"].buffer
