# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The paper's figure 10: mean response times by link, congestion control and eagerness."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from demo.prefetching.conditions import CONGESTION_CONTROLS, LINKS, PRESETS, Arm, Link
from demo.prefetching.run import Result

_COLOURS = {"conservative": "#0b6e99", "aggressive": "#e8a33d"}
_WIDTH = 0.38


def draw(results: Sequence[Result], file: Path) -> None:
    """One panel a link that was run."""
    mpl.use("Agg")
    links = [link for link in LINKS if any(one.link == link.key for one in results)]
    figure = Figure(figsize=(5.2 * len(links), 4.4), layout="constrained")
    for axes, link in zip(figure.subplots(1, len(links), squeeze=False)[0], links, strict=True):
        _panel(axes, link, {one.arm: one for one in results if one.link == link.key})
    figure.suptitle("What 16 clients wait for what they demand, by how their prefetches are sent (TCP Nice, figure 10)")
    figure.savefig(file, dpi=110)


def _panel(axes: Axes, link: Link, by_arm: dict[str, Result]) -> None:
    for side, preset in zip((-1, 1), PRESETS, strict=True):
        arms = [by_arm.get(Arm(preset, name).key) for name in CONGESTION_CONTROLS]
        at = [i + side * _WIDTH / 2 for i, one in enumerate(arms) if one]
        axes.bar(at, [one.mean_ms for one in arms if one], _WIDTH, label=preset, color=_COLOURS[preset])
    if "none" in by_arm:
        axes.axhline(by_arm["none"].mean_ms, color="black", linewidth=1, linestyle="--", label="no prefetching")
    axes.set_xticks(range(len(CONGESTION_CONTROLS)), CONGESTION_CONTROLS)
    axes.set_title(link.title, fontsize=10)
    axes.set_ylabel("mean response time, ms")
    axes.margins(y=0.3)  # room for the legend above the bars
    axes.legend(fontsize=8, loc="upper left", ncols=3)
