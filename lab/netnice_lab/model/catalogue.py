# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The experiments: every file in experiments/, or in a folder of it, may have some in its `EXPERIMENTS`, by name."""

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.model.experiment import Experiment


def modules(top: Path | None = None) -> Iterator[tuple[str, ModuleType]]:
    """Every file below a folder (experiments/), and its paper: the file or folder of the top that it is in."""
    top = top or places.EXPERIMENTS
    for file in sorted(top.rglob("*.py")):
        parts = file.relative_to(top).with_suffix("").parts
        yield parts[0], importlib.import_module(".".join((top.name, *parts)))


@cache
def found(top: Path) -> dict[str, tuple[str, Experiment]]:
    """Every experiment with its paper, in the order of the names."""
    everything = {
        name: (paper, replace(one, name=name))
        for paper, module in modules(top)
        for name, one in getattr(module, "EXPERIMENTS", {}).items()
    }
    return dict(sorted(everything.items()))


def names() -> list[str]:
    """The names of all."""
    return list(found(places.EXPERIMENTS))


def entry(name: str) -> tuple[str, Experiment]:
    """One experiment and its paper."""
    everything = found(places.EXPERIMENTS)
    if name not in everything:
        raise LabError(f"unknown experiment '{name}'", "", f"choose one of {', '.join(everything)}")
    return everything[name]


def paper(name: str) -> str:
    """The file or folder of experiments/ that an experiment is in."""
    return entry(name)[0]


def load(name: str) -> Experiment:
    """One experiment."""
    return entry(name)[1]


def named(names: Sequence[str]) -> list[Experiment]:
    """Experiments by their names, or all of a paper by its file or folder."""
    everything = found(places.EXPERIMENTS)
    by_paper = {paper: [one for at, one in everything.values() if at == paper] for paper, _ in everything.values()}
    return [one for name in names for one in (by_paper.get(name) or [load(name)])]


def load_all() -> Iterator[Experiment]:
    """Every experiment."""
    return (one for _, one in found(places.EXPERIMENTS).values())
