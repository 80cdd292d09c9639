# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Bars: statements that must hold, and those that are known not to."""

import pandas as pd

from netnice_lab.judgement.verdict import Outcome, Verdict
from netnice_lab.model import cells
from netnice_lab.model.experiment import Bar, Experiment


def measure(bar: Bar, frame: pd.DataFrame) -> tuple[float, float, int] | None:
    """A bar's value, the half width of its 95 % interval and the number of seeds; None: not run."""
    from scipy import stats

    rows = pd.concat([by_seed(bar, metric, frame) for metric in (bar.metric, bar.or_metric) if metric], axis=1)
    rows = rows.dropna().max(axis=1)
    if rows.empty:
        return None
    count = len(rows)
    half = float(stats.t.ppf(0.975, count - 1) * rows.std() / count**0.5) if count > 1 else float("nan")
    return float(rows.mean()), half, count


def by_seed(bar: Bar, metric: str, frame: pd.DataFrame) -> "pd.Series[float]":
    """One metric of a bar's cell, over that of the other cell if it names one, by seed."""
    rows = cells.select(frame, bar.cell).groupby("seed")[metric].mean()
    if bar.over is None:
        return rows
    return rows / cells.select(frame, bar.over).groupby("seed")[metric].mean()


def judge_all(experiment: Experiment, frame: pd.DataFrame) -> list[Verdict]:
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
