# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The distribution's picture, after TCP Nice's figure 11: ping latency against completion time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from demo.distribution.conditions import LIMITS, SERVERS, SHARES, Conditions
from demo.distribution.result import Result

_PLAIN, _SHARE, _SERVER, _OURS = "#c0504d", "#7f7f7f", "#0b6e99", "#e8a33d"


def draw(results: Sequence[Result], c: Conditions, file: Path) -> None:
    """Down and to the left is better."""
    mpl.use("Agg")
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots()
    # No throttle is the end of both curves.
    _curve(axes, results, [*(one.key for one in LIMITS), "cubic"], "CUBIC, one throttle for all", _PLAIN)
    _curve(axes, results, [*(one.key for one in SHARES), "cubic"], "CUBIC, a throttle for each by its link", _SHARE)
    _curve(axes, results, [*(one.key for one in SERVERS), "cubic"], "the same in the servers", _SERVER)
    for one in results:
        if one.key == "netnice":
            axes.plot(one.times, one.ping_ms, "o", color=_OURS, markersize=11, label="netnice, nothing to set")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("completion time ÷ the least that the link allows, mean of the clients (log)")
    axes.set_ylabel("ping during the transfer, mean of the clients, ms")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    links = [link for one in c.links for link in one]
    low, high = min(link.rate_bps for link in links) / 1e6, max(link.rate_bps for link in links) / 1e6
    figure.suptitle(
        f"{c.file_bytes / 1e6:g} MB for {len(links)} clients of {low:g} to {high:g} Mbit/s, by {len(c.links)} caches"
    )
    figure.savefig(file, dpi=110)


def _curve(axes: Axes, results: Sequence[Result], keys: list[str], label: str, colour: str) -> None:
    found = {one.key: one for one in results}
    points = [found[key] for key in keys if key in found]
    axes.plot([one.times for one in points], [one.ping_ms for one in points], "o-", color=colour, label=label)
    for one in points:
        axes.annotate(one.key, (one.times, one.ping_ms), xytext=(5, 5), textcoords="offset points", fontsize=8)
