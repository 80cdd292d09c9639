# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Digests of every run of the pinned experiments: a step that should change nothing shows that it changed nothing.

A pin lets a number drift within its tolerance; a digest covers every byte that a guest wrote (Output.digest),
but not what an algorithm is called. Cells are named as in the pins: who renames a row renames it in both files.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.model import cells
from netnice_lab.model.experiment import Experiment

Recorded = dict[str, list[str | None]]
"""By cell, the digests of seeds 1, 2, …; None: that seed is not recorded."""


Seeds = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Compared:
    """Runs beside what was recorded of them: how many are the same, and which seeds of which cells are not."""

    same: int = 0
    moved: Seeds = field(default_factory=dict)
    unknown: Seeds = field(default_factory=dict)

    def __add__(self, other: "Compared") -> "Compared":
        return Compared(self.same + other.same, {**self.moved, **other.moved}, {**self.unknown, **other.unknown})

    @property
    def failed(self) -> int:
        """How many runs gave other bytes."""
        return sum(map(len, self.moved.values()))

    def lines(self) -> list[str]:
        """What a check says of it; the sum last."""
        said = [
            f"{word}: {cell}, seeds {' '.join(map(str, seeds))}"
            for word, cells in (("FAILED other bytes", self.moved), ("not recorded", self.unknown))
            for cell, seeds in cells.items()
        ]
        absent = sum(map(len, self.unknown.values()))
        return [*said, f"exact: {self.same} runs the same, {self.failed} moved, {absent} not recorded"]


def file_of(name: str) -> Path:
    """Where an experiment's digests are."""
    return places.DIGESTS / f"{name}.json"


def read(name: str) -> Recorded:
    """What is recorded of an experiment; nothing, if nothing is."""
    file = file_of(name)
    if not file.exists():
        return {}
    try:
        recorded: Recorded = json.loads(file.read_text())
    except ValueError as error:
        raise LabError(f"cannot read {file}", str(error), f"lab/netnice-lab pin --digests {name}") from error
    return recorded


def runs_of(experiment: Experiment, frame: pd.DataFrame) -> dict[str, dict[int, str]]:
    """The digests of an experiment's rows, by cell and seed."""
    found: dict[str, dict[int, str]] = {}
    for cell in experiment.cells():
        rows = cells.select(frame, cell)
        if not rows.empty:
            found[cells.describe(cell)] = {int(s): str(d) for s, d in zip(rows.seed, rows.digest, strict=True)}
    return found


def record(experiment: Experiment, frame: pd.DataFrame) -> Path:
    """Accept the digests of the rows; what was not run stays as it is, cells that are no more are forgotten."""
    old, new = read(experiment.name), runs_of(experiment, frame)
    merged: Recorded = {}
    for cell in map(cells.describe, experiment.cells()):
        seeds = dict(enumerate(old.get(cell, ()), 1)) | new.get(cell, {})
        if seeds:
            merged[cell] = [seeds.get(seed) for seed in range(1, max(seeds) + 1)]
    return write(experiment.name, merged)


def write(name: str, recorded: Mapping[str, Sequence[str | None]]) -> Path:
    """A line a cell, so that a diff shows which moved."""
    file = file_of(name)
    file.parent.mkdir(exist_ok=True)
    lines = ",\n".join(f"{json.dumps(cell)}: {json.dumps(seeds)}" for cell, seeds in recorded.items())
    file.write_text(f"{{\n{lines}\n}}\n")
    return file


def compare(experiment: Experiment, frame: pd.DataFrame) -> Compared:
    """Hold the rows against what is recorded."""
    recorded, same = read(experiment.name), 0
    moved: dict[str, list[int]] = {}
    unknown: dict[str, list[int]] = {}
    for cell, seeds in runs_of(experiment, frame).items():
        old = dict(enumerate(recorded.get(cell, ()), 1))
        for seed, digest in sorted(seeds.items()):
            if old.get(seed) == digest:
                same += 1
            else:
                (unknown if old.get(seed) is None else moved).setdefault(f"{experiment.name} {cell}", []).append(seed)
    return Compared(same, moved, unknown)
