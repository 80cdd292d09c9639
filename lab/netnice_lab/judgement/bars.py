# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Bars: statements that must hold, and those that are known not to."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from netnice_lab.model.experiment import Bar, Experiment, Row, Value

T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
         2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045)  # fmt: skip
"""Student's t for a 95 % interval, by degrees of freedom from 1 on; beyond, the normal distribution's 1.96."""


class Outcome(Enum):
    """What becomes of a bar."""

    HOLDS = "ok"
    FAILED = "FAILED"
    KNOWN_MISS = "known miss"


@dataclass(frozen=True)
class Verdict:
    """A bar held against runs."""

    experiment: str
    bar: Bar
    value: float
    outcome: Outcome
    note: str

    @property
    def bound(self) -> str:
        """What it may be."""
        low = "" if self.bar.minimum is None else f"≥ {self.bar.minimum:.4g}"
        high = "" if self.bar.maximum is None else f"≤ {self.bar.maximum:.4g}"
        return " and ".join(filter(None, (low, high)))

    @property
    def words(self) -> str:
        """What a check says of it."""
        return f"{self.bar.metric} {self.value:.4g}, bar {self.bound} ({self.note})"


def select(rows: Sequence[Row], cell: Mapping[str, Value]) -> list[Row]:
    """The rows of a cell; keys that it does not name may have any value."""
    return [row for row in rows if all(row.get(key) == value for key, value in cell.items())]


def measure(bar: Bar, rows: Sequence[Row]) -> tuple[float, float, int] | None:
    """A bar's value, the half width of its 95 % interval and the number of seeds; None: not run."""
    found = [by_seed(bar, metric, rows) for metric in (bar.metric, bar.or_metric) if metric]
    values = [max(one[seed] for one in found) for seed in found[0] if all(seed in one for one in found)]
    return (statistics.fmean(values), half_interval(values), len(values)) if values else None


def half_interval(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of their mean; of one value it is not a number."""
    count = len(values)
    t = T_975[count - 2] if count - 2 < len(T_975) else 1.96
    return t * statistics.stdev(values) / count**0.5 if count > 1 else float("nan")


def by_seed(bar: Bar, metric: str, rows: Sequence[Row]) -> dict[int, float]:
    """One metric of a bar's cell, over that of the other cell if it names one, by seed."""

    def means(cell: Mapping[str, Value]) -> dict[int, float]:
        values: dict[int, list[float]] = {}
        for row in select(rows, cell):
            if (value := row.get(metric)) is not None and value == value:  # not NaN
                values.setdefault(int(row["seed"]), []).append(float(value))
        return {seed: statistics.fmean(some) for seed, some in values.items()}

    upper = means(bar.cell)
    if bar.over is None:
        return upper
    lower = means(bar.over)
    return {seed: value / lower[seed] for seed, value in upper.items() if lower.get(seed)}


def in_words(reason: str, measured: tuple[float, float, int]) -> str:
    """A reason with what was measured in it."""
    mean, half, seeds = measured
    return reason.format(mean=f"{mean:.3g}", half=f"{half:.2g}", seeds=seeds)


def judge_all(experiment: Experiment, rows: Sequence[Row]) -> list[Verdict]:
    """Hold every bar that can be measured against the runs of its experiment."""
    verdicts = []
    for bar in experiment.bars:
        if (measured := measure(bar, rows)) is None:
            continue
        value, half, seeds = measured
        outcome, note = judge(bar, value, enough=seeds >= experiment.seeds_of_bar(bar))
        words = in_words(note, measured)
        verdicts.append(Verdict(experiment.name, bar, value, outcome, f"±{half:.3f}, {seeds} seeds{words}"))
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
