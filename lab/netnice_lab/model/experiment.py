# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""An experiment: a sweep of cells, a scenario for each, and the paper's statement about the outcome."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from netnice_lab.errors import LabError
from netnice_lab.model.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

Value = str | int | float | bool
Cell = dict[str, Value]
Row = dict[str, Value]
"""The numbers of a run beside its experiment, cell and seed."""
Pinned = Mapping[str, float]
"""Metric to relative tolerance."""


@dataclass(frozen=True)
class Bar:
    """A statement that must hold: a metric of one cell, absolute or relative to the same metric of another.

    `cell` and `over` name only the keys that matter; `minimum` and `maximum` bound the value. Of `metric` and
    `or_metric`, if there is one, the larger counts: no less than 1 means not better in both. A bar with
    `holds=False` is known not to be met. Every check prints it with our number and the reason, and counts it apart. It
    fails if the bar is met after all, so that it is promoted. A reason may name what was measured: {mean}, {half}
    (of the 95 % interval) and {seeds}.
    """

    says: str
    metric: str
    cell: Mapping[str, Value]
    over: Mapping[str, Value] | None = None
    minimum: float | None = None
    maximum: float | None = None
    holds: bool = True
    reason: str = ""
    or_metric: str = ""

    @property
    def id(self) -> str:
        """What it says as an anchor, as a heading's of a document: unique in its experiment, named by tables."""
        return re.sub(r"[^a-z0-9.:=/]+", "-", self.says.lower()).strip("-")

    def met(self, value: float) -> bool:
        """Is a value within the bounds?"""
        return (self.minimum is None or value >= self.minimum) and (self.maximum is None or value <= self.maximum)


@dataclass(frozen=True)
class Figure:
    """How the sweep is drawn: one line a `series` value, `y` against `x`; or another kind of plot.py."""

    x: str
    y: str
    series: str
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False
    panel: str | None = None
    kind: str = "lines"
    paper: Sequence[tuple[float, float]] = ()
    """Points that the paper states, drawn as crosses."""


@dataclass(frozen=True)
class Timeline:
    """What was sampled in the first seed of one cell, drawn against the time in seconds.

    `lines` turns the flows' numbers by group and the samples into a column a line, indexed by time.
    """

    cell: Mapping[str, Value]
    label: str
    lines: Callable[[dict[str, list[int]], dict[str, pd.DataFrame]], pd.DataFrame]


@dataclass(frozen=True)
class Number:
    """A number of a table, the mean over the runs, and the bounds outside of which it is marked.

    `beside`: the half of its 95 % interval is shown, and it is marked only if the interval leaves this value out.
    """

    metric: str
    digits: int = 2
    least: float | None = None
    most: float | None = None
    beside: float | None = None


@dataclass(frozen=True)
class Table:
    """A table of the documentation: rows by the keys `rows`, a column a value of the key `column`."""

    name: str
    rows: Sequence[str]
    column: str
    numbers: Sequence[Number]
    only: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One figure: what the paper says, what is run, how it is drawn, what is pinned."""

    title: str
    claim: str
    sweep: Mapping[str, Sequence[Value]]
    scenario: Callable[..., Scenario]
    figures: Sequence[Figure]
    differs: str = ""
    seeds: int = 2
    more_seeds: Sequence[tuple[Mapping[str, Value], int]] = ()
    """Cells (only the keys that matter) of which one run says little, and how many say enough."""
    quick: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    pinned: Pinned = field(default_factory=lambda: {"latency": 0.10, "background": 0.10})
    bars: Sequence[Bar] = ()
    timelines: Sequence[Timeline] = ()
    tables: Sequence[Table] = ()
    exists: Callable[[Cell], bool] | None = None
    """Which combinations of the sweep are cells, where not all are."""
    derive: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    """Turns the runs' rows into the rows that are drawn and tabled, where those are not the same."""
    name: str = ""

    def cells(self, only: Mapping[str, Sequence[str]] | None = None, quick: bool = False) -> list[Cell]:
        """The cells of the sweep, restricted by `--only` and by the quick selection."""
        only = only or {}
        if unknown := sorted(set(only) - set(self.sweep)):
            raise LabError(f"{self.name} has no key '{unknown[0]}'", "", f"its keys are {', '.join(self.sweep)}")
        values: dict[str, list[Value]] = {}
        for key, all_values in self.sweep.items():
            chosen = list(all_values)
            if quick and key in self.quick:
                chosen = list(self.quick[key])
            if key in only:
                chosen = [coerce(key, text, all_values, self.name) for text in only[key]]
            values[key] = chosen
        cells = [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]
        return [cell for cell in cells if self.exists is None or self.exists(cell)]

    def seeds_of(self, cell: Cell, quick: bool = False) -> int:
        """How many runs a cell's numbers are the mean of; in the quick selection one, where one says enough."""
        enough = [count for chosen, count in self.more_seeds if chosen.items() <= cell.items()]
        return max([1 if quick else self.seeds, *enough])

    def seeds_of_bar(self, bar: Bar) -> int:
        """How many seeds a bar's mean is of: no cell of it has fewer."""
        named = [bar.cell, *([bar.over] if bar.over is not None else [])]
        return min(self.seeds_of(cell) for cell in self.cells() if any(one.items() <= cell.items() for one in named))

    def at(self, cell: Cell, seed: int) -> Scenario:
        """The scenario of a cell."""
        return self.scenario(**cell, seed=seed)


def describe(cell: Cell) -> str:
    """A cell in words."""
    return " ".join(f"{key}={value}" for key, value in cell.items())


def select(frame: pd.DataFrame, cell: Mapping[str, Value]) -> pd.DataFrame:
    """The rows of a cell; keys the cell does not name may have any value."""
    for key, value in cell.items():
        frame = frame[frame[key] == value]
    return frame


def coerce(key: str, text: str, values: Sequence[Value], name: str) -> Value:
    """A value given as text, in the type of the sweep's own values."""
    for value in values:
        if str(value) == text:
            return value
    kind = type(values[0])
    try:
        return kind(text)
    except ValueError as error:
        raise LabError(
            f"{name}: '{text}' is no value of '{key}'",
            "",
            f"for example {', '.join(str(value) for value in values)}",
        ) from error


Results = Mapping[str, "tuple[Experiment, pd.DataFrame]"]
"""Experiments by name, each with the rows of its runs."""


@dataclass(frozen=True)
class Summary:
    """A table of the documentation that is made of several experiments."""

    experiments: Sequence[str]
    render: Callable[[Results], str]
