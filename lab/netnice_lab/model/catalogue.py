# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The experiments: every file in a folder of experiments/ is one, and is called like its file."""

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.model.experiment import Experiment


def files() -> dict[str, Path]:
    """Every experiment's file by its name; a folder's `world/` holds what its experiments share."""
    return {file.stem: file for file in sorted(places.EXPERIMENTS.glob("*/*.py"), key=lambda file: file.stem)}


def names() -> list[str]:
    """Every experiment."""
    return list(files())


def paper(name: str) -> str:
    """The folder of an experiment."""
    return files()[name].parent.name


def load(name: str) -> Experiment:
    """Read an experiment's file."""
    if (file := files().get(name)) is None:
        raise LabError(f"unknown experiment '{name}'", "", f"choose one of {', '.join(names())}")
    spec = importlib.util.spec_from_file_location(f"experiment_{name.replace('-', '_')}", file)
    assert spec is not None and spec.loader is not None
    code = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(code)
    found: Experiment = code.experiment
    return replace(found, name=name)


def load_all() -> Iterator[Experiment]:
    """Every experiment."""
    return (load(name) for name in names())
