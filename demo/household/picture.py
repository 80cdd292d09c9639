# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The household's picture: a row a measure, a group of bars a background."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from demo.household.conditions import LOADS, Conditions
from demo.household.scene import Result

_KINDS = {"cubic": ("plain (CUBIC)", "#c0504d"), "netnice": ("netnice", "#e8a33d"), "priority": ("ideal", "#0b6e99")}
_WIDTH = 0.26


def draw(results: Sequence[Result], c: Conditions, file: Path) -> None:
    """What those at home felt is above, what the background moved below."""
    mpl.use("Agg")
    loads = [load for load in LOADS if any(one.load == load.key for one in results)]
    figure = Figure(figsize=(2.4 * max(len(loads), 1) + 2, 9), layout="constrained")
    call, page, moved = figure.subplots(3, 1, sharex=True)
    _bars(call, results, [load.key for load in loads], lambda one: one.call_p95_ms)
    call.set_ylabel("call: p95 of the latency,\nthere and back, ms (log)")
    _bars(page, results, [load.key for load in loads], lambda one: one.page_mean_ms)
    page.set_ylabel("a page, mean, ms (log)")
    for axes in (call, page):
        axes.set_yscale("log")
    _bars(moved, results, [load.key for load in loads], lambda one: (one.up_bytes + one.down_bytes) / 1e6)
    moved.set_ylabel("background moved, MB")
    moved.set_xticks(range(len(loads)), [load.title.replace(", ", ",\n") for load in loads])
    call.legend(loc="upper left", fontsize=8)
    figure.suptitle(
        f"A household: {c.down_bps / 1e6:g} Mbit/s down, {c.up_bps / 1e6:g} up, {c.rtt_ms} ms, "
        f"{c.buffer_ms} ms of buffer; a call, pages and a video"
    )
    figure.savefig(file, dpi=110)


def _bars(axes: Axes, results: Sequence[Result], loads: list[str], of: Callable[[Result], float]) -> None:
    for place, (kind, (title, colour)) in enumerate(_KINDS.items()):
        mine = {one.load: of(one) for one in results if one.kind == kind and one.load and math.isfinite(of(one))}
        at = [loads.index(load) + (place - 1) * _WIDTH for load in mine]
        axes.bar(at, list(mine.values()), _WIDTH, label=title, color=colour)
    alone = [of(one) for one in results if not one.load and of(one)]
    if alone:
        axes.axhline(alone[0], color="black", linewidth=0.9, linestyle="--", label="nothing beside")
    axes.grid(axis="y", alpha=0.3)
