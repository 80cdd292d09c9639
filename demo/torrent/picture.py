# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The torrent's picture: the link's queueing delay over time, a line a way of sending."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from demo.torrent.conditions import LOADS, SCENARIOS, Conditions
from demo.torrent.scene import Result

_COLOURS = {"nothing": "#7f7f7f", "cubic": "#c0504d", "utp": "#7a5195", "netnice": "#e8a33d", "priority": "#0b6e99"}


def draw(results: Sequence[Result], c: Conditions, file: Path) -> None:
    """A row for each thing that the client does."""
    mpl.use("Agg")
    loads = [load for load in LOADS if any(one.load == load.key for one in results)]
    titles = {one.key: one.title for one in SCENARIOS}
    figure = Figure(figsize=(9, 3.2 * len(loads) + 0.6), layout="constrained")
    for axes, load in zip(figure.subplots(len(loads), 1, squeeze=False)[:, 0], loads, strict=True):
        for one in results:
            if one.load == load.key:
                label = f"{titles[one.kind]}: {one.torrent_bps / 1e6:.1f} Mbit/s"
                axes.plot(one.queue_t, one.queue_ms, color=_COLOURS[one.kind], linewidth=1, label=label)
        axes.set_yscale("symlog", linthresh=10)
        axes.set_ylim(0, 8 * load.buffer_ms)  # the legend has its place above what can be
        axes.set_ylabel("queueing delay, ms")
        axes.set_title(
            f"{load.title}: {load.rate_bps / 1e6:g} Mbit/s, {load.rtt_ms} ms, {load.buffer_ms} ms of buffer",
            fontsize=10,
        )
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="upper right", ncols=2)
    axes.set_xlabel("seconds")
    figure.suptitle(f"A torrent of {c.peers} peers on an access link, pages beside it")
    figure.savefig(file, dpi=110)
