# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The papers' claims beside ours: `lab/claims/PAPER.toml`, a row a claim, in the paper's order.

A row is held by bars of experiments or by tests, or it says why it is missed or not comparable. What must have a row is
what two readers found, of each paper, without seeing anything else: `lab/claims/readers/PAPER-1.toml` and `-2.toml`. A
row names the entries that it answers, `1.12` for the twelfth of the first.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path

from netnice_lab import places
from netnice_lab.engine import faults
from netnice_lab.errors import LabError
from netnice_lab.judgement import bars, recorded
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Bar, Row, describe

NAME = "claims"
"""What a check and a table call them."""
CLAIMS = places.LAB / NAME
PAPERS = {
    "tcp-nice": "TCP Nice",
    "tcp-nicer": "TCP Nicer",
    "vulture": "Vulture",
    "lbe-linux": "The Linux NICE/LEDBAT report",
}
"""File and title, in the order of the page."""
LEAST_COVERED = 0.95
"""Part of the readers' entries that rows must answer."""


class Standing(Enum):
    """What became of a claim."""

    MET = "met"
    MISSED = "missed"
    APART = "not comparable"


@dataclass(frozen=True)
class Claim:
    """A row. `bars` are 'EXPERIMENT: what it says', `tests` 'FILE: NAME'."""

    section: str
    where: str
    says: str
    paper: str = ""
    """The paper's value in short."""
    ours: str = ""
    """Ours, where no bar measures it."""
    bars: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    missed: str = ""
    """Why we do not have it, where no bar says so."""
    apart: str = ""
    """Why no bar or test here can be held against it."""
    fails: str = ""
    """A mutant of engine/faults.py with which the row was tried and is missed; one row of a figure or table has it."""
    readers: tuple[str, ...] = ()

    @property
    def experiments(self) -> list[str]:
        """Those of its bars."""
        return list(dict.fromkeys(name.partition(": ")[0] for name in self.bars))


@dataclass(frozen=True)
class Held:
    """A claim beside what was measured."""

    claim: Claim
    standing: Standing
    ours: str
    why: str


def file_of(paper: str) -> Path:
    """Where a paper's claims are."""
    return CLAIMS / f"{paper}.toml"


def entries(file: Path) -> list[dict[str, object]]:
    """The `[[claim]]` tables of a file."""
    try:
        found: list[dict[str, object]] = tomllib.loads(file.read_text())["claim"]
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise LabError(f"cannot read {file}", str(error), "it is a list of [[claim]] tables") from error
    return found


def read(paper: str) -> list[Claim]:
    """A paper's claims."""
    known = {field.name for field in fields(Claim)}
    claims = []
    for entry in entries(file_of(paper)):
        if unknown := sorted(set(entry) - known):
            at = f"in '{entry.get('says')}'"
            raise LabError(f"{file_of(paper)}: '{unknown[0]}'", at, f"a claim has {', '.join(known)}")
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
        claims.append(Claim(**values))  # type: ignore[arg-type]
    return claims


def unanswered(paper: str, claims: Sequence[Claim]) -> list[str]:
    """The readers' entries that no row answers."""
    answered = {number for claim in claims for number in claim.readers}
    left = []
    for reader in ("1", "2"):
        found = entries(CLAIMS / "readers" / f"{paper}-{reader}.toml")
        left += [
            f"{reader}.{at}: {entry['says']}" for at, entry in enumerate(found, 1) if f"{reader}.{at}" not in answered
        ]
    return left


def entry_count(paper: str) -> int:
    """How many entries the readers have together."""
    return sum(len(entries(CLAIMS / "readers" / f"{paper}-{reader}.toml")) for reader in ("1", "2"))


def bar_of(name: str) -> Bar:
    """The bar that a row names."""
    experiment, _, says = name.partition(": ")
    found = {bar.says: bar for bar in catalogue.load(experiment).bars}
    if says not in found:
        raise LabError(f"{experiment} has no bar '{says}'", "", f"its bars are {'; '.join(found)}")
    return found[says]


def has_test(name: str) -> bool:
    """Is there such a test?"""
    file, _, test = name.partition(": ")
    path = places.CLONE / file
    return path.is_file() and re.search(rf"\b(fn|def) {re.escape(test)}\b", path.read_text()) is not None


def hold(claim: Claim, rows: Mapping[str, Sequence[Row]]) -> Held:
    """A claim beside the recorded runs, by experiment."""
    if claim.apart:
        return Held(claim, Standing.APART, claim.ours, claim.apart)
    values, reasons, missed = [], [], bool(claim.missed)
    for name in claim.bars:
        bar = bar_of(name)
        measured = bars.measure(bar, rows[name.partition(": ")[0]])
        if measured is None:
            raise LabError(f"nothing is recorded of '{name}'", "", f"lab/netnice-lab record {claim.experiments[0]}")
        values.append(f"{measured[0]:.3g}")
        if not bar.met(measured[0]):
            missed = True
            reasons.append(bars.in_words(bar.reason, measured))
    ours = ", ".join(filter(None, (" ".join(values), claim.ours)))
    why = "; ".join(dict.fromkeys(filter(None, (claim.missed, *reasons))))
    return Held(claim, Standing.MISSED if missed else Standing.MET, ours, why)


def experiments_of(papers: Sequence[str]) -> list[str]:
    """The experiments that hold the claims of some papers."""
    return list(dict.fromkeys(name for paper in papers for claim in read(paper) for name in claim.experiments))


def recorded_rows(papers: Sequence[str]) -> dict[str, list[Row]]:
    """What is recorded of the experiments that hold the claims of some papers, of whatever sources."""
    found = [catalogue.load(name) for name in experiments_of(papers)]
    results = recorded.read(found)
    rows: dict[str, list[Row]] = {one.name: [] for one in found}
    cells = {(one.name, describe(cell)): cell for one in found for cell in one.cells()}
    for (name, cell, seed), result in results.items():
        if (name, cell) in cells:
            rows[name].append({**cells[name, cell], "seed": seed, **result.numbers})
    return rows


def faults_of(paper: str, claims: Sequence[Claim]) -> list[str]:
    """What is wrong with a paper's rows."""
    wrong = []
    for claim in claims:
        head = f"{paper} {claim.section}, {claim.where}: {claim.says}"
        held_by = bool(claim.bars or claim.tests)
        if not (held_by or claim.missed or claim.apart):
            wrong.append(f"{head}: neither a bar, a test, nor a reason")
        if claim.missed and claim.apart:
            wrong.append(f"{head}: missed, or not comparable?")
        wrong += [f"{head}: no test '{name}'" for name in claim.tests if not has_test(name)]
        if claim.fails and claim.fails not in faults.MUTANTS:
            wrong.append(f"{head}: no mutant '{claim.fails}'")
    left, total = unanswered(paper, claims), entry_count(paper)
    if len(left) > (1 - LEAST_COVERED) * total:
        wrong.append(f"{paper}: {len(left)} of the readers' {total} entries have no row, more than 5 %:")
        wrong += left
    return wrong
