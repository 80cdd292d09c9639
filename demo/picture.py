# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The time line: who got the link, how long documents took, how full the queue was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from demo.conditions import Conditions
from demo.scenario import Result

_FOREGROUND, _BACKGROUND, _QUEUE = "#0b6e99", "#e8a33d", "#555555"


def draw(results: Sequence[Result], conditions: Conditions, file: Path) -> None:
    """One column a scenario, all on the same scales."""
    mpl.use("Agg")
    figure = Figure(figsize=(4.1 * len(results) + 0.8, 8.2), layout="constrained")
    rows = figure.subplots(3, len(results), sharex=True, sharey="row", squeeze=False, height_ratios=[1.1, 1.3, 0.7])
    for column, result in enumerate(results):
        _throughput(rows[0][column], result, conditions)
        _latency(rows[1][column], result, results[0])
        rows[1][column].yaxis.set_major_formatter(ScalarFormatter())
        _queue(rows[2][column], result, conditions)
        rows[2][column].set_xlabel("seconds")
    slowest = max((ms for result in results for _, ms in result.documents), default=1e3)
    rows[1][0].set_ylim(conditions.rtt_ms, slowest * 3)  # room for the words above the dots
    rows[0][0].set_ylabel("goodput, Mbit/s")
    rows[1][0].set_ylabel("time to fetch a document, ms (log)")
    rows[2][0].set_ylabel("queue, KB")
    rows[0][0].legend(loc="lower left", fontsize=8, framealpha=0.9)
    rows[1][0].legend(loc="upper left", fontsize=8, framealpha=0.9)
    c = conditions
    figure.suptitle(
        f"{c.clients} clients fetch documents ({c.load_bps / 1e6:g} Mbit/s offered) beside "
        f"{c.transfers_at_a_time} {c.transfers} on a {c.rate_bps / 1e6:g} Mbit/s, {c.rtt_ms} ms path "
        f"with a {c.queue} queue"
    )
    figure.savefig(file, dpi=110)


def _throughput(axes: Axes, result: Result, c: Conditions) -> None:
    line = result.timeline
    foreground = [bps / 1e6 for bps in line["foreground_bps"]]
    background = [bps / 1e6 for bps in line["background_bps"]]
    axes.stackplot(
        line["t"],
        foreground,
        background,
        labels=["documents (foreground)", f"{c.transfers} (background)"],
        colors=[_FOREGROUND, _BACKGROUND],
    )
    axes.axhline(c.rate_bps / 1e6, color="black", linewidth=0.8, linestyle=":")
    axes.axvspan(-c.warmup_s, 0, color="white", alpha=0.55)
    axes.axvline(0, color="black", linewidth=0.8, linestyle="--")
    axes.set_xlim(-c.warmup_s, c.seconds)
    axes.set_ylim(0, c.rate_bps / 1e6 * 1.1)
    void = "" if result.path_trusted else "  VOID"
    axes.set_title(f"background: {result.title}{void}", fontsize=11, fontweight="bold")


def _latency(axes: Axes, result: Result, first: Result) -> None:
    axes.semilogy(
        [t for t, _ in result.documents],
        [ms for _, ms in result.documents],
        marker=".",
        linestyle="none",
        markersize=3.5,
        alpha=0.55,
        color=_FOREGROUND,
        label="one document",
    )
    mean = result.foreground["mean_us"] / 1e3
    axes.axhline(mean, color="crimson", linewidth=1.4, label="mean")
    text = f"mean {mean:.0f} ms, p99 {result.foreground['p99_us'] / 1e3:.0f} ms"
    if result is not first and first.key == "nothing":
        text += f"\n× {result.foreground['mean_us'] / first.foreground['mean_us']:.2f} of undisturbed"
    axes.text(0.97, 0.96, text, transform=axes.transAxes, ha="right", va="top", fontsize=9)
    axes.grid(axis="y", which="major", alpha=0.3)


def _queue(axes: Axes, result: Result, c: Conditions) -> None:
    line = result.timeline
    axes.plot(line["queue_t"], [size / 1e3 for size in line["queue_bytes"]], color=_QUEUE, linewidth=0.7)
    axes.set_ylim(bottom=0)
    if result.key != "nothing":
        share = 100 * result.spare_used
        axes.set_title(
            f"{c.transfers} got {result.background_bps / 1e6:.2f} Mbit/s, {share:.0f} % of the spare", fontsize=9
        )
