# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
from pathlib import Path

import pandas as pd
import pytest

from netnice_lab import experiment, must
from netnice_lab.errors import LabError
from netnice_lab.experiment import Bar

ROUTE = next(row for row in must.ROWS if row.experiment == "vulture-route")


@pytest.mark.parametrize("name", must.EXPERIMENTS)
def test_every_row_names_bars_that_there_are(name: str) -> None:
    says = {bar.says for bar in experiment.load(name).bars}
    for row in must.ROWS:
        assert row.experiment != name or says.issuperset(row.says), row.measure


def test_every_figure_with_faithful_bars_is_counted() -> None:
    all_found = map(experiment.load, experiment.names())
    named = {found.name for found in all_found if any(bar.says.startswith("faithful, ") for bar in found.bars)}
    assert named == set(must.FAITHFUL)


def frame(*use: float) -> pd.DataFrame:
    """Runs of vulture-route."""
    ways = experiment.load("vulture-route").sweep["longer"]
    rows = [
        {"experiment": "vulture-route", "receiver": "tide", "longer": way, "seed": 1, "use": value}
        for way, value in zip(ways, use, strict=True)
    ]
    return pd.DataFrame(rows)


def test_a_miss_is_bold_and_said_below() -> None:
    found = experiment.load("vulture-route")
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


def test_the_table_goes_between_its_marks(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text(f"before\n{must.BEGIN}\nold\n{must.END}\nafter\n")
    for _ in range(2):
        must.write("| new |", document)
        assert document.read_text() == f"before\n{must.BEGIN}\n| new |\n{must.END}\nafter\n"
    document.write_text("no marks\n")
    with pytest.raises(LabError, match="no place for the table"):
        must.write("| new |", document)
