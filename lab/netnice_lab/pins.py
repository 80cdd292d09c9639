# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Pinned results: what a run gave when it was last accepted, and whether it still does."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pandas as pd

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.experiment import Bar, Cell, Experiment, Value


class Outcome(Enum):
    """What becomes of a pinned number or a bar."""

    HOLDS = "ok    "
    FAILED = "FAILED"
    KNOWN_MISS = "missed"


@dataclass(frozen=True)
class Verdict:
    """One pinned number or bar: what it was, what it is, what it may be."""

    where: str
    metric: str
    old: float | None
    new: float
    low: float | None
    high: float | None
    outcome: Outcome
    note: str = ""

    @property
    def failed(self) -> bool:
        """Is it something that should hold and does not, or that does and should be said to?"""
        return self.outcome is Outcome.FAILED

    def line(self) -> str:
        """What a check says of it."""
        old = "" if self.old is None else f"old {self.old:.4g} "
        low = "-∞" if self.low is None else f"{self.low:.4g}"
        high = "∞" if self.high is None else f"{self.high:.4g}"
        return (
            f"{self.outcome.value} {self.where} {self.metric}: {old}new {self.new:.4g} bound {low}…{high} {self.note}"
        ).rstrip()


def file_of(name: str) -> Path:
    """Where an experiment's pins are."""
    return places.PINS / f"{name}.json"


def describe(cell: Cell) -> str:
    """A cell in words."""
    return " ".join(f"{key}={value}" for key, value in cell.items())


def select(frame: pd.DataFrame, cell: Mapping[str, Value]) -> pd.DataFrame:
    """The rows of a cell; keys the cell does not name may have any value."""
    for key, value in cell.items():
        frame = frame[frame[key] == value]
    return frame


def pin(experiment: Experiment, frame: pd.DataFrame) -> Path:
    """Write the pins of an experiment: every seed's value of every pinned metric of every cell."""
    keys = list(experiment.sweep)
    cells: list[dict[str, Any]] = []
    for cell in experiment.cells():
        rows = select(frame, cell).sort_values("seed")
        if rows.empty:
            continue
        metrics = {
            metric: [round(float(v), 6) for v in rows[metric]]
            for metric in experiment.pinned
            if metric in rows and rows[metric].notna().all()
        }
        cells.append({"cell": cell, "seeds": [int(s) for s in rows.seed], "metrics": metrics})
    if not cells:
        raise LabError(f"nothing to pin for {experiment.name}", f"no rows for {', '.join(keys)}")
    path = file_of(experiment.name)
    places.PINS.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(cell) for cell in cells)
    path.write_text(f'{{"experiment": "{experiment.name}", "cells": [\n{lines}\n]}}\n')
    return path


def read(experiment: Experiment) -> list[dict[str, Any]]:
    """The pinned cells of an experiment."""
    try:
        cells: list[dict[str, Any]] = json.loads(file_of(experiment.name).read_text())["cells"]
    except (OSError, ValueError, KeyError) as error:
        raise LabError(
            f"{experiment.name} has no readable pins",
            str(error),
            f"lab/netnice-lab pin {experiment.name}",
        ) from error
    return cells


def cells_of(frame: pd.DataFrame, keys: list[str]) -> Iterator[tuple[Cell, pd.DataFrame]]:
    """Every cell and its rows."""
    for _, rows in frame.groupby(keys, sort=False):
        yield {key: rows[key].tolist()[0] for key in keys}, rows


def check(experiment: Experiment, frame: pd.DataFrame) -> list[Verdict]:
    """Compare with the pins, cell by cell, over the seeds that were run."""
    verdicts = []
    pinned = {describe(entry["cell"]): entry for entry in read(experiment)}
    keys = list(experiment.sweep)
    for cell, rows in cells_of(frame, keys):
        # beside experiments without this key a whole number has become a float
        cell = {key: next((v for v in experiment.sweep[key] if v == value), value) for key, value in cell.items()}
        where = f"{experiment.name} {describe(cell)}"
        if (entry := pinned.get(describe(cell))) is None:
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


def measure(bar: Bar, frame: pd.DataFrame) -> tuple[float, float, int] | None:
    """A bar's value, the half width of its 95 % interval and the number of seeds; None: not run."""
    from scipy import stats

    rows = select(frame, bar.cell).groupby("seed")[bar.metric].mean()
    if rows.empty:
        return None
    if bar.over is not None:
        base = select(frame, bar.over).groupby("seed")[bar.metric].mean()
        rows = (rows / base).dropna()
        if rows.empty:
            return None
    count = len(rows)
    half = float(stats.t.ppf(0.975, count - 1) * rows.std() / count**0.5) if count > 1 else float("nan")
    return float(rows.mean()), half, count


def bars(experiment: Experiment, frame: pd.DataFrame) -> list[Verdict]:
    """Hold every bar that can be measured against the runs."""
    verdicts = []
    for bar in experiment.bars:
        if (measured := measure(bar, frame)) is None:
            continue
        value, half, seeds = measured
        outcome, note = judge(bar, value, enough=seeds >= experiment.seeds_of_bar(bar))
        words = note.format(mean=f"{value:.3g}", half=f"{half:.2g}", seeds=seeds)
        where = f"{experiment.name} {bar.says}"
        note = f"±{half:.3f}, {seeds} seeds{words}"
        verdicts.append(Verdict(where, bar.metric, None, value, bar.minimum, bar.maximum, outcome, note))
    return verdicts


def judge(bar: Bar, value: float, enough: bool) -> tuple[Outcome, str]:
    """The outcome of a bar and what is to be said of it; `enough`: as many seeds as its mean is of were run.

    Fewer seeds may meet by chance what the mean misses: they promote no bar.
    """
    if bar.holds:
        return (Outcome.HOLDS if bar.met(value) else Outcome.FAILED), ""
    if not bar.met(value):
        return Outcome.KNOWN_MISS, f"; known not to be met: {bar.reason}"
    if enough:
        return Outcome.FAILED, "; known not to be met, but it is: promote it (drop holds=False or its line of MISSES)"
    return Outcome.KNOWN_MISS, "; met by these seeds, too few to promote it"
