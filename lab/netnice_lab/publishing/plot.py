# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figures: mostly one line a protocol, the mean over the seeds, the spread as a band; and single runs against time."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib
import pandas as pd

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "netnice"  # the same figure is the same file
matplotlib.rcParams["svg.fonttype"] = "none"  # words are words: smaller, and they can be searched for

import matplotlib.pyplot as plt  # noqa: E402  the backend must be chosen first
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure as Picture  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402
from matplotlib.ticker import LogFormatter  # noqa: E402

from netnice_lab.engine.sweep import Task  # noqa: E402
from netnice_lab.measures import results  # noqa: E402
from netnice_lab.model.experiment import Experiment, Figure  # noqa: E402
from netnice_lab.model.output import Output  # noqa: E402
from netnice_lab.publishing import thumbnails  # noqa: E402

STYLES = ["o-", "s-", "^-", "v-", "D-", "x-", "+-", "p--", "h--", "*--", "1:", "2:"]
ACROSS = 4
"""Plots side by side."""
COLUMNS = 3
"""Of points; four make a square."""
FLOOR = 1.0
"""Per cent, or times as long as alone: what costs less is drawn here, as the axis has no 0."""
BOX = (("p05", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95))
LEAD, BEHIND = "0.93", "0.80"
"""Greys of the regions where the column has more than the row, and less."""


def logarithmic(axes: Axes) -> None:
    """The upward axis, with 2 for 2 x 10 to the power of 0."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(LogFormatter())
    axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))


def draw_lines(axes: Axes, figure: Figure, frame: pd.DataFrame) -> None:
    """One line a value of the series."""
    for style, name in zip(STYLES * 3, frame[figure.series].drop_duplicates(), strict=False):
        rows = frame[frame[figure.series] == name]
        grouped = rows.groupby(figure.x)[figure.y]
        mean, low, high = grouped.mean(), grouped.min(), grouped.max()
        axes.plot(mean.index, mean.to_numpy(), style, label=str(name), markersize=4, linewidth=1)
        axes.fill_between(mean.index, low, high, alpha=0.12)
    if figure.paper:
        axes.plot(*zip(*figure.paper, strict=True), "kX", label="the paper", markersize=7, linewidth=0)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    if figure.log_x:
        axes.set_xscale("log")
    if figure.log_y:
        logarithmic(axes)
    axes.grid(True, which="both", linewidth=0.3)


def lines(figure: Figure, frame: pd.DataFrame) -> Picture:
    """One plot a value of the panel."""
    panels = list(frame[figure.panel].drop_duplicates()) if figure.panel else [None]
    picture, axes = plt.subplots(1, len(panels), figsize=(max(6.0, 4.2 * len(panels)), 4.2), squeeze=False, sharey=True)
    for one, panel in zip(axes[0], panels, strict=True):
        draw_lines(one, figure, frame if panel is None else frame[frame[figure.panel] == panel])
        if panel is not None:
            one.set_title(f"{figure.panel} = {panel}", fontsize=9)
    axes[0][-1].legend(fontsize=7, bbox_to_anchor=(1.02, 1.0), loc="upper left")
    return picture


def bars(figure: Figure, frame: pd.DataFrame) -> Picture:
    """One bar a value of `x`, in the order of the rows, coloured by `series`; every plot has its own scale."""
    panels = list(frame[figure.panel].drop_duplicates()) if figure.panel else [None]
    down, across = math.ceil(len(panels) / ACROSS), min(ACROSS, len(panels))
    picture, axes = plt.subplots(down, across, figsize=(4.2 * across, 3.6 * down), squeeze=False)
    names = list(frame[figure.series].drop_duplicates())
    colours = dict(zip(names, plt.get_cmap("tab10").colors, strict=False))
    for one, panel in zip(axes.flat, panels, strict=False):
        rows = frame if panel is None else frame[frame[figure.panel] == panel]
        found = rows.groupby([figure.x, figure.series], sort=False)[figure.y].agg(["mean", "min", "max"]).reset_index()
        spread = [found["mean"] - found["min"], found["max"] - found["mean"]]
        fill = [colours[name] for name in found[figure.series]]
        one.bar(found[figure.x], found["mean"], yerr=spread, color=fill, ecolor="black", capsize=2)
        one.set_ylabel(figure.y_label, fontsize=8)
        one.tick_params(axis="x", labelsize=7, rotation=90)
        if figure.log_y:
            one.set_yscale("log")
        if panel is not None:
            one.set_title(str(panel), fontsize=9)
    for empty in list(axes.flat)[len(panels) :]:
        empty.set_axis_off()
    handles = [Patch(color=colours[name], label=str(name)) for name in names]
    picture.legend(handles=handles, fontsize=7, title=figure.series, title_fontsize=7, loc="upper left")
    return picture


def frontier(figure: Figure, frame: pd.DataFrame) -> Picture:
    """A plot a value of the panel; the mean over the seeds."""
    panels = list(frame[figure.panel].drop_duplicates())
    columns = 2 if len(panels) == 4 else min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    picture, axes = plt.subplots(
        rows, columns, figsize=(4.6 * columns, 4.2 * rows), squeeze=False, sharex=True, sharey=True
    )
    for one in axes.flat[len(panels) :]:
        one.set_visible(False)
    colours = {name: f"C{number % 10}" for number, name in enumerate(frame[figure.series].drop_duplicates())}
    for one, panel in zip(axes.flat, panels, strict=False):
        draw_frontier(one, figure, frame[frame[figure.panel] == panel], colours)
        one.set_title(f"{figure.panel} = {panel}", fontsize=9)
    for one in axes[:, 0]:
        one.set_ylabel(figure.y_label)
    for one in axes[-1]:
        one.set_xlabel(figure.x_label)
    return picture


def draw_frontier(axes: Axes, figure: Figure, frame: pd.DataFrame, colours: dict[str, str]) -> None:
    """Right and down is better."""
    for curve in frame[figure.series].drop_duplicates():
        rows = frame[frame[figure.series] == curve]
        limit = rows.protocol.isna().all()
        means = rows.groupby(figure.x if limit else "protocol", sort=False)[[figure.x, figure.y]].mean()
        low = means[figure.y].clip(lower=FLOOR)
        style, colour = ("--", "black") if limit else ("o-", colours[curve])
        axes.plot(means[figure.x], low, style, color=colour, markersize=4, linewidth=1)
        for name, x, y in zip([] if limit else means.index, means[figure.x], low, strict=False):
            axes.annotate(str(name), (x, y), (3, 3), textcoords="offset points", fontsize=6)
    logarithmic(axes)
    axes.grid(True, which="both", linewidth=0.3)


def matrix(figure: Figure, frame: pd.DataFrame) -> Picture:
    """Rows are `series` (its part upwards), columns `x`: one point a run, one scatter a pair, the report's regions."""
    up, right = figure.y, figure.y.replace(figure.series, figure.x)
    names = list(frame[figure.series].drop_duplicates())
    columns = [name for name in names if name in set(frame[figure.x])]
    size = (1.5 * len(columns) + 1, 1.5 * len(names) + 1)
    picture, axes = plt.subplots(len(names), len(columns), figsize=size, squeeze=False, sharex=True, sharey=True)
    for row, line in zip(names, axes, strict=True):
        for column, one in zip(columns, line, strict=True):
            runs = frame[(frame[figure.series] == row) & (frame[figure.x] == column)]
            one.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=(0, 0.5), yticks=(0, 0.5))
            one.fill([0, 1, 0.5], [0, 0, 0.5], LEAD)
            one.fill([0, 0, 0.5], [0, 1, 0.5], BEHIND)
            one.plot(runs[right], runs[up], ".", markersize=3)
    for column, one in zip(columns, axes[0], strict=True):
        one.set_title(column, fontsize=8)
    for row, line in zip(names, axes, strict=True):
        line[0].set_ylabel(row, fontsize=8)
    middle = len(names) // 2
    axes[middle][0].set_ylabel(f"{figure.y_label}\n{names[middle]}", fontsize=8)
    axes[-1][len(columns) // 2].set_xlabel(figure.x_label, fontsize=8)
    return picture


def stack(figure: Figure, frame: pd.DataFrame) -> Picture:
    """One bar a value of `x`, in the order of the rows, made of one piece a `series`."""
    table = frame.pivot_table(index=figure.x, columns=figure.series, values=figure.y, sort=False).fillna(0.0)
    picture, axes = plt.subplots(figsize=(8.0, 4.2))
    bottom = pd.Series(0.0, table.index)
    colours = plt.get_cmap("tab20").colors
    for colour, name in zip(colours, table, strict=False):
        axes.bar(table.index, table[name], bottom=bottom, label=str(name), color=colour)
        bottom += table[name]
    axes.set(xlabel=figure.x_label, ylabel=figure.y_label, ylim=(0, 1))
    axes.tick_params(axis="x", labelsize=7)
    axes.legend(fontsize=7, title="over")
    return picture


def box(figure: Figure, rows: pd.DataFrame) -> dict[str, object]:
    """Of the rows, or the mean of the quantiles that each run of them has of itself."""
    own = f"{figure.y}_p50" in rows
    parts = {name: rows[f"{figure.y}_{name}"].mean() if own else rows[figure.y].quantile(part) for name, part in BOX}
    return dict(zip(("whislo", "q1", "med", "q3", "whishi"), parts.values(), strict=True))


def boxes(figure: Figure, frame: pd.DataFrame) -> Picture:
    """A box a value of `x` and `series`: quartiles, 5th and 95th percentiles, the median as a thick line."""
    places, names = list(frame[figure.x].drop_duplicates()), list(frame[figure.series].drop_duplicates())
    picture, axes = plt.subplots(figsize=(max(8.0, 0.25 * len(places) * len(names)), 4.2))
    colours = plt.get_cmap("tab20").colors
    for number, name in enumerate(names):
        rows = frame[frame[figure.series] == name]
        found = {at: rows[rows[figure.x] == place] for at, place in enumerate(places)}
        axes.bxp(
            [box(figure, some) for some in found.values() if len(some)],
            positions=[at + 0.8 * ((number + 0.5) / len(names) - 0.5) for at, some in found.items() if len(some)],
            widths=0.7 / len(names),
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": colours[number % len(colours)]},
            medianprops={"color": "black", "linewidth": 2},
        )
    axes.set_xticks(range(len(places)), [str(place) for place in places], fontsize=7)
    axes.set(xlabel=figure.x_label, ylabel=figure.y_label, yscale="log" if figure.log_y else "linear")
    if len(names) > 1:
        handles = [Patch(color=colours[at % len(colours)], label=str(name)) for at, name in enumerate(names)]
        axes.legend(handles=handles, fontsize=7)
    return picture


PICTURES = {
    "lines": lines,
    "bars": bars,
    "frontier": frontier,
    "matrix": matrix,
    "stack": stack,
    "boxes": boxes,
}


ENDINGS = ("svg", "png")


def draw_recorded(experiment: Experiment, directory: Path) -> list[Path]:
    """NAME[-N].svg of the figures whose numbers are recorded."""
    frame = thumbnails.rows(experiment)
    return [] if frame.empty else draw(experiment, frame, directory, ENDINGS[:1])


def draw(experiment: Experiment, frame: pd.DataFrame, directory: Path, endings: Sequence[str] = ENDINGS) -> list[Path]:
    """Write NAME[-N].svg and .png for every figure of an experiment whose numbers are there."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    frame = thumbnails.derived(experiment, frame)
    for number, figure in enumerate(experiment.figures, 1):
        if figure.y not in frame or frame[figure.y].isna().all():
            continue
        picture = PICTURES[figure.kind](figure, frame)
        suffix = "" if number == 1 else f"-{number}"
        written += save(picture, experiment.title, directory / f"{experiment.name}{suffix}", endings)
    return written


def draw_timelines(experiment: Experiment, runs: Iterable[tuple[Task, Output]], directory: Path) -> list[Path]:
    """Write NAME-time[-N].svg and .png for every timeline whose run is there."""
    directory.mkdir(parents=True, exist_ok=True)
    first = [(task, output) for task, output in runs if task.experiment == experiment.name and task.seed == 1]
    written = []
    for number, timeline in enumerate(experiment.timelines, 1):
        for task, output in first:
            if not timeline.cell.items() <= task.cell.items():
                continue
            series = timeline.lines(task.run.groups, results.samples(output))
            picture, axes = plt.subplots(figsize=(9.0, 4.2))
            for name in series:
                axes.plot(series.index, series[name].to_numpy(), label=name, linewidth=1)
            axes.set_xlabel("seconds")
            axes.set_ylabel(timeline.label)
            axes.grid(True, linewidth=0.3)
            axes.legend(fontsize=7)
            title = experiment.title + " · " + " ".join(f"{key}={value}" for key, value in timeline.cell.items())
            suffix = "" if number == 1 else f"-{number}"
            written += save(picture, title, directory / f"{experiment.name}-time{suffix}")
            break
    return written


def save(picture: Picture, title: str, path: Path, endings: Sequence[str] = ENDINGS) -> list[Path]:
    """Write a picture in these formats, the same bytes every time."""
    picture.suptitle(title, fontsize=10)
    picture.tight_layout()
    written = []
    for ending in endings:
        file = path.parent / f"{path.name}.{ending}"
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        picture.savefig(file, dpi=110, metadata=metadata)
        written.append(file)
    plt.close(picture)
    return written
