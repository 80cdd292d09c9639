# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tables of the pages: what they show, and what each row of the receivers' table names."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from experiments.tcp_nice.section4 import paper
from experiments.vulture import receivers as must
from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.judgement import claims, misses
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Bar, Experiment, Number, Table
from netnice_lab.publishing import figures, tables

FRAME = pd.DataFrame(
    [("a", 0.3, 1, 0.97, 1.2), ("a", 0.3, 2, 0.99, 1.0), ("b", 0.3, 1, 0.5, 1.0), ("b", 10.0, 1, 0.96, 1.0)],
    columns=["pair", "rate", "seed", "kept", "latency"],
)
ONE = Experiment(
    title="t", claim="c", sweep={"pair": ("a", "b"), "rate": (0.3, 10.0)}, scenario=paper, figures=[], name="one",
    tables=[Table("kept", ("rate",), "pair", [Number("kept", least=0.95), Number("latency", 1, most=1.05)])],
)  # fmt: skip


def test_a_table_has_means_and_marks_what_misses() -> None:
    lines = tables.markdown(ONE.tables[0], FRAME).splitlines()
    assert lines[0] == "| rate | a | b |"
    assert lines[2] == "| 0.3 | 0.98 · **1.1** | **0.50** · 1.0 |"
    assert lines[3] == "| 10 | – · – | 0.96 · 1.0 |"


def test_a_number_with_an_interval_is_marked_only_if_it_is_surely_another() -> None:
    number = Number("kept", least=0.95, most=1.05, beside=1.0)
    frame = pd.DataFrame({"kept": [0.9, 0.92, 0.94, 0.9, 0.92], "rate": 1.0, "pair": "a"})
    assert tables.text(number, frame) == "**0.92±0.02**"
    assert tables.text(number, frame.assign(kept=[0.5, 1.3, 0.94, 0.9, 0.92])) == "0.91±0.35"
    assert tables.text(number, frame[:1]) == "0.90"


def test_only_what_is_between_the_marks_is_written(tmp_path: Path) -> None:
    file = tmp_path / "some.md"
    file.write_text("before\n<!-- table one kept -->\nold\n<!-- end -->\nafter\n")
    assert tables.wanted(file) == ["one"]
    tables.rewrite(file, {"one": (ONE, FRAME)})
    again = file.read_text()
    tables.rewrite(file, {"one": (ONE, FRAME)})
    assert file.read_text() == again
    assert again.startswith("before\n<!-- table one kept -->\n| rate | a | b |\n")
    assert again.endswith("\n<!-- end -->\nafter\n")


def test_a_document_without_tables_or_with_unknown_ones_says_so(tmp_path: Path) -> None:
    file = tmp_path / "some.md"
    file.write_text("nothing\n")
    with pytest.raises(LabError, match="has no tables"):
        tables.wanted(file)
    file.write_text("<!-- table one none -->\n<!-- end -->\n")
    with pytest.raises(LabError, match=r"no table 'none'(.|\n)*kept"):
        tables.rewrite(file, {"one": (ONE, FRAME)})


def test_every_table_of_a_document_is_one_of_an_experiment_or_a_summary() -> None:
    for file in (places.CLONE / "docs").rglob("*.md"):
        for match in tables.BLOCK.finditer(file.read_text()):
            if match[2] == claims.NAME:
                assert match[3] in {"summary", figures.NAME, *claims.PAPERS}
            elif (places.EXPERIMENTS / match[2]).is_dir():
                assert tables.summary(match[2], match[3]).experiments
            else:
                assert match[3] in {table.name for table in catalogue.load(match[2]).tables}, match[1]


def test_a_miss_names_its_bar_and_its_reason() -> None:
    known = misses.read({"slow": "goodput a x19: 0.3/8.5 10/1\n  latency a x19: 10/1"})
    assert known == {"goodput a x19 0.3/8.5": "slow", "goodput a x19 10/1": "slow", "latency a x19 10/1": "slow"}
    bar = misses.bar(known, "goodput a x19 10/1", "kept", {"pair": "a"}, minimum=0.95)
    assert (bar.holds, bar.reason) == (False, "slow")
    assert misses.bar(known, "goodput b x19 10/1", "kept", {"pair": "b"}, minimum=0.95).holds


def test_the_misses_of_a_run_are_lines_of_the_table() -> None:
    bars = [misses.bar({}, f"goodput {pair} 0.3", "kept", {"pair": pair}, minimum=0.95) for pair in "ab"]
    (line,) = misses.lines(replace(ONE, bars=bars), FRAME.to_dict("records"))
    assert line.startswith("goodput b: 0.3 (0.73)")


def test_every_known_miss_is_a_bar() -> None:
    tables = {name: table for _, module in catalogue.modules() for name, table in getattr(module, "MISSES", {}).items()}
    assert {"nicer-pairs", "nicer-fig1", "nice-fig8", "frontier-paths"} <= tables.keys()
    for name, table in tables.items():
        assert table.keys() <= {bar.says for bar in catalogue.load(name).bars}, name


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
