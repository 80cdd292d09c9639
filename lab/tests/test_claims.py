# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The papers' claims: rows are held by what exists, and what would fail them has been tried."""

import re
from pathlib import Path

import pytest

from netnice_lab import places
from netnice_lab.engine import changes, sweep
from netnice_lab.engine.faults import MUTANTS
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.judgement import bars, check, claims
from netnice_lab.judgement.claims import Claim, Standing
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Cell
from netnice_lab.publishing import figures, papers, tables

BROKEN = {
    f"{paper} {claim.section}, {claim.where}: {claim.fails}": claim
    for paper in claims.PAPERS
    for claim in claims.read(paper)
    if claim.fails
}
BAR = "window-floor: 64 flows, floor of 1"


def row(**values: object) -> Claim:
    return Claim(section="1", where="text", says="so", **values)  # type: ignore[arg-type]


def test_a_row_needs_a_holder_or_a_reason() -> None:
    wrong = claims.faults_of("tcp-nice", [row(), row(missed="why"), row(tests=("lab/tests/test_claims.py: no_such",))])
    assert "neither a bar, a test, nor a reason" in wrong[0]
    assert "no test 'lab/tests/test_claims.py: no_such'" in wrong[1]


def test_entries_of_the_readers_without_a_row_are_listed() -> None:
    wrong = claims.faults_of("tcp-nice", [row(missed="why", readers=("1.1", "2.2"))])
    total = claims.entry_count("tcp-nice")
    assert wrong[0].startswith(f"tcp-nice: {total - 2} of the readers' {total} entries have no row")
    assert len(wrong) == 1 + total - 2


def test_a_bar_that_does_not_exist_is_refused() -> None:
    with pytest.raises(LabError, match="has no bar 'nobody says so'"):
        claims.bar_of("window-floor: nobody says so")


def test_a_row_is_met_by_what_its_bars_have() -> None:
    rows = claims.recorded_rows(["tcp-nice"])
    assert claims.hold(row(bars=(BAR,)), rows).standing is Standing.MET
    assert claims.hold(row(bars=(BAR,), missed="it says two"), rows).standing is Standing.MISSED
    assert claims.hold(row(apart="a definition"), rows).standing is Standing.APART


def test_an_unknown_field_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "CLAIMS", tmp_path)
    (tmp_path / "tcp-nice.toml").write_text('[[claim]]\nsection = "1"\nwhere = "text"\nsays = "so"\nwho = "me"\n')
    with pytest.raises(LabError, match="'who'"):
        claims.read("tcp-nice")


@pytest.mark.parametrize("paper", claims.PAPERS)
def test_a_page_has_a_line_a_claim(paper: str) -> None:
    text = papers.made(paper)
    assert text.startswith(f"**{len(claims.read(paper))} claims: ")
    assert sum(line.startswith("| ") for line in text.splitlines()) == 2 + len(claims.read(paper))


def test_the_first_page_counts_all() -> None:
    total = sum(len(claims.read(paper)) for paper in claims.PAPERS)
    assert papers.made("summary").startswith(f"**{total} claims: ")


def test_the_index_of_figures_links_to_what_is_there() -> None:
    made = figures.made(tables.experiments_of)
    for paper in claims.PAPERS:
        page = (places.CLONE / f"docs/research/papers/{paper}.md").read_text()
        for anchor in re.findall(rf"\]\({paper}\.md#([\w-]+)\)", made):
            assert page.count(f'<a id="{anchor}"></a>') == 1, (paper, anchor)
    assert "`nice-fig8` | [internet.md](../internet.md#figure-8-large-transfers) |" in made


def test_all_of_a_paper_by_its_name() -> None:
    assert {one.name for one in catalogue.named(["tcp_nicer", "demand"])} >= {"nicer-fig1", "nicer-pairs", "demand"}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", BROKEN)
def test_what_would_fail_a_claim_fails_it(built: Programs, name: str) -> None:
    """With the change in the cores one of the row's bars, which holds, is missed."""
    claim = BROKEN[name]
    missed = []
    for said in claim.bars:
        found, bar = catalogue.load(said.partition(": ")[0]), claims.bar_of(said)
        cells: list[Cell] = [dict(bar.cell), *([dict(bar.over)] if bar.over is not None else [])]
        tasks = [
            task
            for cell in cells
            for task in sweep.tasks([found], {k: [str(v)] for k, v in cell.items()}, seeds=2, mutants=(claim.fails,))
        ]
        measured = bars.measure(bar, sweep.rows(sweep.outputs(tasks)))
        assert measured is not None
        missed += [said] * (bar.holds and not bar.met(measured[0]))
    assert missed


CELLS = {
    "threshold-ignored": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["16"]}),
    "floor-of-one": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["64"]}),
    "acks-counted": ("nice-fig3", {"protocol": ["nice-0.1"], "flows": ["16"]}),
    "rounds-of-one-ack": ("nicer-together", {"rate": ["10.0"], "level": ["netnice"], "flows": ["4"]}),
    "no-longer-route": ("lines-route", {"protocol": ["netnice"], "way": ["there"], "step": ["up"], "stamps": ["True"]}),
    "no-siblings": ("nicer-together", {"rate": ["10.0"], "level": ["netnice1"], "flows": ["16"]}),
    "clock-of-the-wire": ("vulture-fig15", {"receiver": ["tide"], "sender": ["cubic"]}),
}
"""Of those that are not tried by a claim alone."""


@pytest.mark.parametrize("name", CELLS)
def test_a_broken_core_moves_a_cell_beyond_its_tolerance(built: Programs, name: str) -> None:
    figure, only = CELLS[name]
    found = catalogue.load(figure)
    good = sweep.tasks([found], only, seeds=1)
    recorded = check.Standing.of([found], good).rows(map(check.place, good))
    bad = sweep.rows(sweep.outputs(sweep.tasks([found], only, seeds=1, mutants=(name,))))
    assert len(recorded) == len(bad)
    assert check.moved(found, recorded, bad)


@pytest.mark.parametrize("name", [*changes.ABLATIONS, *MUTANTS, *changes.VARIANTS])
def test_what_a_change_replaces_is_there_once(name: str) -> None:
    assert len(changes.find(name).places(places.CLONE)) == 1
