# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Pinned results: what a run gave when it was last accepted, and whether it still does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.judgement.verdict import Outcome, Verdict
from netnice_lab.model import cells
from netnice_lab.model.experiment import Cell, Experiment


def file_of(name: str) -> Path:
    """Where an experiment's pins are."""
    return places.PINS / f"{name}.json"


def pin(experiment: Experiment, frame: pd.DataFrame) -> Path:
    """Write the pins of an experiment: every seed's value of every pinned metric. Cells not run keep theirs."""
    keys = list(experiment.sweep)
    rows_of = {cells.describe(cell): cells.select(frame, cell).sort_values("seed") for cell in experiment.cells()}
    partly = any(rows.empty for rows in rows_of.values()) and file_of(experiment.name).exists()
    old = {cells.describe(entry["cell"]): entry for entry in read(experiment)} if partly else {}
    entries: list[dict[str, Any]] = []
    for cell in experiment.cells():
        rows = rows_of[name := cells.describe(cell)]
        if rows.empty:
            if name in old:
                entries.append(old[name])
            continue
        metrics = {
            metric: [round(float(v), 6) for v in rows[metric]]
            for metric in experiment.pinned
            if metric in rows and rows[metric].notna().all()
        }
        entries.append({"cell": cell, "seeds": [int(s) for s in rows.seed], "metrics": metrics})
    if not entries:
        raise LabError(f"nothing to pin for {experiment.name}", f"no rows for {', '.join(keys)}")
    path = file_of(experiment.name)
    places.PINS.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    path.write_text(f'{{"experiment": "{experiment.name}", "cells": [\n{lines}\n]}}\n')
    return path


def read(experiment: Experiment) -> list[dict[str, Any]]:
    """The pinned cells of an experiment."""
    try:
        entries: list[dict[str, Any]] = json.loads(file_of(experiment.name).read_text())["cells"]
    except (OSError, ValueError, KeyError) as error:
        raise LabError(
            f"{experiment.name} has no readable pins",
            str(error),
            f"lab/netnice-lab pin {experiment.name}",
        ) from error
    return entries


def cells_of(frame: pd.DataFrame, keys: list[str]) -> Iterator[tuple[Cell, pd.DataFrame]]:
    """Every cell and its rows."""
    for _, rows in frame.groupby(keys, sort=False):
        yield {key: rows[key].tolist()[0] for key in keys}, rows


def check(experiment: Experiment, frame: pd.DataFrame) -> list[Verdict]:
    """Compare with the pins, cell by cell, over the seeds that were run."""
    verdicts = []
    pinned = {cells.describe(entry["cell"]): entry for entry in read(experiment)}
    keys = list(experiment.sweep)
    for cell, rows in cells_of(frame, keys):
        # beside experiments without this key a whole number has become a float
        cell = {key: next((v for v in experiment.sweep[key] if v == value), value) for key, value in cell.items()}
        where = f"{experiment.name} {cells.describe(cell)}"
        if (entry := pinned.get(cells.describe(cell))) is None:
            raise LabError(f"{where} is not pinned", "the sweep has changed", f"lab/netnice-lab pin {experiment.name}")
        for metric, all_old in entry["metrics"].items():
            olds = [old for seed, old in zip(entry["seeds"], all_old, strict=True) if seed in set(rows.seed)]
            if len(olds) != len(rows):
                raise LabError(f"{where}: not every seed is pinned", "", f"lab/netnice-lab pin {experiment.name}")
            old, new = sum(olds) / len(olds), float(rows[metric].mean())
            margin = abs(old) * experiment.pinned[metric] + 1e-3
            low, high = old - margin, old + margin
            outcome = Outcome.HOLDS if low <= new <= high else Outcome.FAILED
            verdicts.append(Verdict(where, metric, old, new, low, high, outcome))
    return verdicts
