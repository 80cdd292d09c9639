# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Bars made in a loop, and the table of those that are not met: which, and why.

A table maps a reason to lines `HEAD: ITEM ITEM`, where `HEAD ITEM` is what a bar says. `netnice-lab misses NAME` prints
the lines of an experiment as its runs are now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from netnice_lab.judgement import bars
from netnice_lab.model.experiment import Bar, Experiment, Row, Value

Misses = Mapping[str, str]
DRAWN = "met by less than its seeds differ, until a change of the lab's kernel had every run draw other random numbers"
"""A reason: of a bar at its edge."""
EDGE = "at its edge: its seeds differ by more than it is missed by"
"""Another."""


def read(table: Misses) -> dict[str, str]:
    """The reason of each bar that is not met, by what it says."""
    reasons: dict[str, str] = {}
    for reason, block in table.items():
        for line in filter(None, map(str.strip, block.splitlines())):
            head, _, items = line.partition(": ")
            reasons |= {f"{head} {item}": reason for item in items.split()}
    return reasons


def bar(
    table: Mapping[str, str],
    says: str,
    metric: str,
    cell: Mapping[str, Value],
    over: Mapping[str, Value] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    or_metric: str = "",
) -> Bar:
    """A bar, not demanded if the table that was read has it."""
    return Bar(says, metric, cell, over, minimum, maximum, says not in table, table.get(says, ""), or_metric)


def marked(table: Mapping[str, str], made: Sequence[Bar]) -> list[Bar]:
    """The same bars, not demanded if the table that was read has them."""
    return [replace(one, holds=one.says not in table, reason=table.get(one.says, "")) for one in made]


def lines(experiment: Experiment, rows: Sequence[Row]) -> list[str]:
    """The table as it is now: every bar that the runs miss, those that are known with their reasons."""
    known = {one.says: one.reason for one in experiment.bars}
    found: dict[tuple[str, str], list[str]] = {}
    for one in experiment.bars:
        if (measured := bars.measure(one, rows)) is None:
            continue
        if not one.met(measured[0]):
            head, _, item = one.says.rpartition(" ")
            found.setdefault((known[one.says] or "?", head), []).append(f"{item} ({measured[0]:.3g})")
    return [f"{head}: {' '.join(items)}   # {reason}" for (reason, head), items in sorted(found.items())]
