# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Recorded results: what each run of the lab gave, under the hash of the sources that decide it.

`lab/recorded/PAPER.jsonl` has a line a cell. A run whose key (engine/keys.py) is the recorded one is held as it is
recorded: the same inputs give the same bytes. Any other is run, and its bytes are compared with those recorded: so a
change that should move no result shows that none moved. Beside its digest a run keeps the numbers that the bars and
`judge` read.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Cell, Experiment, Row, describe

Place = tuple[str, str, int]
"""Experiment, cell in words, seed."""


@dataclass(frozen=True)
class Result:
    """One run as it is recorded."""

    key: str
    digest: str
    numbers: Mapping[str, float]


def file_of(experiment: str) -> Path:
    """Where an experiment's results are: one file a paper."""
    return places.RECORDED / f"{catalogue.paper(experiment)}.jsonl"


@cache
def read_file(file: Path) -> dict[Place, Result]:
    """All results of a paper."""
    if not file.exists():
        return {}
    found: dict[Place, Result] = {}
    try:
        for entry in map(json.loads, file.read_text().splitlines()):
            for at, (seed, key, digest) in enumerate(entry["runs"]):
                numbers = {name: values[at] for name, values in entry["numbers"].items() if values[at] is not None}
                found[entry["experiment"], entry["cell"], seed] = Result(key, digest, numbers)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise LabError(
            f"cannot read {file}", str(error), "git checkout it, or make it anew: lab/netnice-lab record"
        ) from error
    return found


def read(experiments: Iterable[Experiment]) -> dict[Place, Result]:
    """What is recorded of these experiments."""
    names = {experiment.name for experiment in experiments}
    files = {file_of(name) for name in names}
    return {place: one for file in files for place, one in read_file(file).items() if place[0] in names}


def has(experiment: str) -> bool:
    """Is anything recorded of it? What is only looked at is not."""
    return any(place[0] == experiment for place in read_file(file_of(experiment)))


def seeds(experiment: str, cell: Cell) -> list[int]:
    """The seeds of a cell of which results are recorded."""
    return [place[2] for place in read_file(file_of(experiment)) if place[:2] == (experiment, describe(cell))]


def numbers_kept(experiment: Experiment) -> list[str]:
    """The metrics that are recorded: those that are compared, and those of the bars."""
    bars = [metric for bar in experiment.bars for metric in (bar.metric, bar.or_metric) if metric]
    return list(dict.fromkeys([*experiment.pinned, *bars]))


def record(experiments: Sequence[Experiment], runs: Mapping[Place, tuple[str, Row]]) -> list[Path]:
    """Accept runs (key and row by place). What was not run stays as it is; cells that are no more are dropped."""
    written = []
    for file in dict.fromkeys(file_of(experiment.name) for experiment in experiments):
        read_file.cache_clear()
        kept = read_file(file)
        for experiment in experiments:
            if file_of(experiment.name) == file:
                names = numbers_kept(experiment)
                for place, (key, row) in runs.items():
                    if place[0] == experiment.name:
                        kept[place] = Result(key, str(row["digest"]), numbers_of(row, names))
        write(file, kept)
        written.append(file)
    read_file.cache_clear()
    return written


def numbers_of(row: Row, names: Sequence[str]) -> dict[str, float]:
    """These numbers of a run, where it has them, to six digits behind the point."""
    return {n: round(float(value), 6) for n in names if (value := row.get(n)) is not None and value == value}


def write(file: Path, results: Mapping[Place, Result]) -> None:
    """A line a cell, in the order of the experiments' sweeps, so that a diff shows which moved."""
    by_cell: dict[tuple[str, str], dict[int, Result]] = {}
    for (name, cell, seed), one in results.items():
        by_cell.setdefault((name, cell), {})[seed] = one
    lines = []
    for name in sorted({name for name, _ in by_cell}):
        for cell in map(describe, catalogue.load(name).cells()):
            if found := by_cell.get((name, cell)):
                runs = [[seed, found[seed].key, found[seed].digest] for seed in sorted(found)]
                names = dict.fromkeys(n for one in found.values() for n in one.numbers)
                numbers = {n: [found[seed].numbers.get(n) for seed in sorted(found)] for n in names}
                lines.append(json.dumps({"experiment": name, "cell": cell, "runs": runs, "numbers": numbers}) + "\n")
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(lines))
