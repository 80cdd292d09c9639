# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The scene of the README: documents fetched beside uploads, or downloads, in each way of the background."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demo.background import Conditions, downloading, make_source, uploading
from demo.scene import NONE, Progress, Scene, aligned, figure, loaded, markdown, titled, voids, widths
from demo.scenes.documents_run import Result, run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The whole table: of a terminal, and of docs/research/demo.md with the units that its headings leave out.
_HEAD = ("background", "mean ms", "× alone", "median ms", "p99 ms", "× alone", "Mbit/s", "% of spare", "% of ideal")
_FULL = (
    "background",
    "documents: mean, ms",
    "× alone",
    "median, ms",
    "p99, ms",
    "× alone",
    "background: Mbit/s",
    "% of spare",
    "% of ideal",
)
#: What most readers want to know, and all that the README has.
_SHORT = ("background", "documents take, mean", "1 in 100 takes over", "background gets")
_FOREGROUND, _BACKGROUND, _QUEUE = "#0b6e99", "#e8a33d", "#555555"


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a scenario; ratios are left out where there is nothing to compare with."""
    by_key = {result.key: result for result in results}
    alone, ideal = by_key.get("nothing"), by_key.get("priority")
    return [_row(result, alone, ideal) for result in results]


def short_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """The same in four columns: a latency with its ratio, a goodput with its share of the ideal."""
    return [
        (
            title,
            _with(f"{mean} ms", mean_times, "× {}"),
            _with(f"{p99} ms", p99_times, "× {}"),
            _with(f"{goodput} Mbit/s", share, "{} % of ideal") if goodput != NONE else NONE,
        )
        for title, mean, mean_times, _median, p99, p99_times, goodput, _spare, share in rows(results)
    ]


def _with(value: str, ratio: str, form: str) -> str:
    return value if ratio == NONE else f"{value}, {form.format(ratio)}"


def _row(result: Result, alone: Result | None, ideal: Result | None) -> tuple[str, ...]:
    def times(name: str) -> str:
        if alone is None or result is alone:
            return NONE
        return f"{result.foreground[name] / alone.foreground[name]:.2f}"

    busy = result.key != "nothing"
    share = NONE
    if busy and ideal is not None and ideal.background_bps > 0:
        share = f"{100 * result.background_bps / ideal.background_bps:.0f}"
    return (
        titled(result.title, result),
        f"{result.mean_ms:.0f}",
        times("mean_us"),
        f"{result.foreground['median_us'] / 1e3:.0f}",
        f"{result.foreground['p99_us'] / 1e3:.0f}",
        times("p99_us"),
        f"{result.background_bps / 1e6:.2f}" if busy else NONE,
        f"{100 * result.spare_used:.0f}" if busy else NONE,
        share,
    )


def table(results: Sequence[Result], *, full: bool = False, as_markdown: bool = False) -> str:
    """Four columns as the README has them, or all of docs/research/demo.md, with two headings on a terminal."""
    head, body = (_FULL if as_markdown else _HEAD, rows(results)) if full else (_SHORT, short_rows(results))
    if as_markdown:
        return markdown(head, body, words=1)
    lines = [head, *body]
    made = aligned(lines, words=1)
    if not full:
        return made
    wide = widths(lines)
    middle, right = sum(wide[1:6]) + 2 * 4, sum(wide[6:]) + 2 * 2
    over = "document latency".center(middle, "─") + "  " + "background goodput".center(right, "─")
    return f"{' ' * (wide[0] + 2)}{over}\n{made}"


def doubts(results: Sequence[Result]) -> list[str]:
    """Why some of the numbers are not to be believed; empty when all are."""
    said = []
    for result in results:
        said += voids([result])
        unfinished = int(result.foreground["unfinished"])
        if unfinished:
            said.append(
                f"'{result.key}': {unfinished} of {int(result.foreground['documents'])} documents had not "
                "arrived when the run ended; the latencies leave them out and are too low"
            )
    return said


class Documents(Scene[Result]):
    """The scene, as the demo's command shows it."""

    PROGRAMS = ("nginx", "rsync", "curl")
    OPTIONS = ("seconds", "seed", "uploads", "downloads", "clients", "full")

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.conditions = Conditions(
            seconds=options.seconds,
            seed=options.seed,
            uploads=options.uploads,
            downloads=options.downloads,
            clients=options.clients,
        )

    def run(self) -> None:
        """Every scenario, one after the other."""
        c, chosen = self.conditions, self.options.scenarios
        transferring = downloading if c.downloads else partial(uploading, make_source(c))
        for number, one in enumerate(chosen, 1):
            progress = Progress(f"{number}/{len(chosen)} {one.title.format(transfers=c.transfers)}")
            with loaded(one.kind):
                result = run(one, c, transferring, progress)
            progress.end(
                f"documents {result.mean_ms:.0f} ms on average, {c.transfers} {result.background_bps / 1e6:.2f} Mbit/s"
            )
            self.results.append(result)

    def record(self) -> dict[str, Any]:
        scenarios = [{**one.recorded(), "spare_used": one.spare_used} for one in self.results]
        return {"conditions": asdict(self.conditions), "scenarios": scenarios}

    def doubts(self) -> list[str]:
        return doubts(self.results)

    def text(self) -> str:
        return table(self.results, full=self.options.full, as_markdown=self.options.markdown)

    def draw(self, file: Path) -> None:
        """One column a scenario, all on the same scales: shares of the link, how long documents took, the queue."""
        from matplotlib.ticker import ScalarFormatter

        c, results = self.conditions, self.results
        made = figure(4.1 * len(results) + 0.8, 8.2)
        rows = made.subplots(3, len(results), sharex=True, sharey="row", squeeze=False, height_ratios=[1.1, 1.3, 0.7])
        for column, result in enumerate(results):
            _throughput(rows[0][column], result, c)
            _latency(rows[1][column], result, results[0])
            rows[1][column].yaxis.set_major_formatter(ScalarFormatter())
            _queue(rows[2][column], result, c)
            rows[2][column].set_xlabel("seconds")
        slowest = max((ms for result in results for _, ms in result.documents), default=1e3)
        rows[1][0].set_ylim(c.rtt_ms, slowest * 3)  # room for the words above the dots
        rows[0][0].set_ylabel("goodput, Mbit/s")
        rows[1][0].set_ylabel("time to fetch a document, ms (log)")
        rows[2][0].set_ylabel("queue, KB")
        rows[0][0].legend(loc="lower left", fontsize=8, framealpha=0.9)
        rows[1][0].legend(loc="upper left", fontsize=8, framealpha=0.9)
        made.suptitle(
            f"{c.clients} clients fetch documents ({c.load_bps / 1e6:g} Mbit/s offered) beside "
            f"{c.transfers_at_a_time} {c.transfers} on a {c.rate_bps / 1e6:g} Mbit/s, {c.rtt_ms} ms path "
            f"with a {c.queue} queue"
        )
        made.savefig(file, dpi=110)


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
    mean = result.mean_ms
    axes.axhline(mean, color="crimson", linewidth=1.4, label="mean")
    text = f"mean {mean:.0f} ms, p99 {result.foreground['p99_us'] / 1e3:.0f} ms"
    if result is not first and first.key == "nothing":
        text += f"\n× {result.mean_ms / first.mean_ms:.2f} of undisturbed"
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
