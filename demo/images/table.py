# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The one table of the images: documents beside each program, and what it got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from demo import layout, table
from demo.images.conditions import LOADS
from demo.scenario import Result

_HEAD = ("background", "by", "documents take, mean", "1 in 100 takes over", "background gets")
_KINDS = {"nothing": "", "cubic": "plain (CUBIC)", "netnice": "netnice", "priority": "ideal: priority queue"}
_TITLES = {"": "nothing", **{load.key: load.title for load in LOADS}}

Runs = Mapping[str, Sequence[Result]]
"""The results of each load, by its key; those with nothing beside the documents under ''."""


def rows(runs: Runs) -> list[tuple[str, ...]]:
    """One row a run: documents against documents alone, goodput against the ideal of the same load."""
    alone = list(runs.get("", ()))
    made = []
    for load, results in runs.items():
        against = [one for one in alone if one not in results]
        cells = table.short_rows([*against, *results])[len(against) :]
        for one, (_, *figures) in zip(results, cells, strict=True):
            void = "" if one.path_trusted else " (VOID)"
            made.append((_TITLES[load] + void, _KINDS[one.key], *figures))
    return made


def plain(runs: Runs) -> str:
    """Aligned columns."""
    return layout.aligned([_HEAD, *rows(runs)])


def markdown(runs: Runs) -> str:
    """The same for docs/images.md."""
    return layout.markdown(_HEAD, rows(runs))
