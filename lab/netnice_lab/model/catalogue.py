# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The experiments: every file in experiments/, or in a folder of it, may have some in its `EXPERIMENTS`, by name."""

import importlib
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.model.experiment import Experiment


def modules() -> Iterator[ModuleType]:
    """Every file of experiments/, imported."""
    for file in sorted(places.EXPERIMENTS.rglob("*.py")):
        yield importlib.import_module(".".join(file.relative_to(places.EXPERIMENTS.parent).with_suffix("").parts))


def by_name() -> dict[str, Experiment]:
    """Every experiment, in the order of the names."""
    found: dict[str, Experiment] = {}
    for module in modules():
        found |= getattr(module, "EXPERIMENTS", {})
    return {name: replace(found[name], name=name) for name in sorted(found)}


def names() -> list[str]:
    """The names of all."""
    return list(by_name())


def load(name: str) -> Experiment:
    """One experiment."""
    found = by_name()
    if name not in found:
        raise LabError(f"unknown experiment '{name}'", "", f"choose one of {', '.join(found)}")
    return found[name]


def load_all() -> Iterator[Experiment]:
    """Every experiment."""
    return iter(by_name().values())
