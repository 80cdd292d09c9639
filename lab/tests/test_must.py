# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import pandas as pd
import pytest

from experiments.vulture import receivers as must
from netnice_lab.errors import LabError
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Bar
from netnice_lab.publishing import tables

ROUTE = next(row for row in must.ROWS if row.experiment == "vulture-route")


@pytest.mark.parametrize("name", must.SHOWN)
def test_every_row_names_bars_that_there_are(name: str) -> None:
    ids = {bar.id for bar in catalogue.load(name).bars}
    for row in must.ROWS:
        assert row.experiment != name or ids.issuperset(row.bars), row.measure


def test_every_figure_with_faithful_bars_is_counted() -> None:
    all_found = map(catalogue.load, catalogue.names())
    named = {found.name for found in all_found if any(bar.id.startswith("faithful-") for bar in found.bars)}
    assert named == set(must.FAITHFUL)


def frame(*use: float) -> pd.DataFrame:
    """Runs of vulture-route."""
    ways = catalogue.load("vulture-route").sweep["longer"]
    rows = [
        {"experiment": "vulture-route", "receiver": "tide", "longer": way, "seed": 1, "use": value}
        for way, value in zip(ways, use, strict=True)
    ]
    return pd.DataFrame(rows)


def test_a_miss_is_bold_and_said_below() -> None:
    found = catalogue.load("vulture-route")
    line, said = must.row(ROUTE, found, frame(0.98, 0.98, 0.96, 0.98, 0.98, 1.0))
    assert "| ≥ .97 .97 .97 .97 .97 .97 | .98 .98 **.96** .98 .98 1 | 5 of 6 |" in line
    assert said == [f"* {ROUTE.measure} (10 ms: the path is used): no reason is known."]
    line, said = must.row(ROUTE, found, frame(*[0.98] * 6))
    assert line.endswith("| met |")
    assert said == []


def test_numbers_are_short() -> None:
    bars = [Bar("a", "m", {}, maximum=0.10), Bar("b", "m", {}, maximum=2.0)]
    assert must.bounds(bars) == "≤ .1 2"
    assert must.bounds([Bar("c", "m", {}, minimum=0.99), *bars]) == "≥ .99 ≤ .1 2"
    assert [must.short(v) for v in (0.0356, 1.0, 20.44, 0.9996, 10.0)] == [".036", "1", "20.4", "1", "10"]


def test_the_table_is_a_summary_of_its_folder() -> None:
    assert tables.summary("vulture", "receivers") is must.summary
    assert tables.experiments_of("vulture", "receivers") == must.SHOWN
    with pytest.raises(LabError, match="no table 'vulture nothing'"):
        tables.summary("vulture", "nothing")
