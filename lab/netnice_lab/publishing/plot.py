# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figures: mostly one line a protocol, the mean over the seeds, the spread as a band; and single runs against time."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib
import pandas as pd

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "netnice"  # the same figure is the same file

import matplotlib.pyplot as plt  # noqa: E402  the backend must be chosen first
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure as Picture  # noqa: E402

from netnice_lab.engine.sweep import Task  # noqa: E402
from netnice_lab.measures import results  # noqa: E402
from netnice_lab.model.experiment import Experiment, Figure  # noqa: E402
from netnice_lab.model.output import Output  # noqa: E402
from netnice_lab.publishing import plot_bars, plot_frontier, plot_rivals  # noqa: E402

STYLES = ["o-", "s-", "^-", "v-", "D-", "x-", "+-", "p--", "h--", "*--", "1:", "2:"]


def draw_lines(axes: Axes, figure: Figure, frame: pd.DataFrame) -> None:
    """One line a value of the series."""
    for style, name in zip(STYLES * 3, frame[figure.series].drop_duplicates(), strict=False):
        rows = frame[frame[figure.series] == name]
        grouped = rows.groupby(figure.x)[figure.y]
        mean, low, high = grouped.mean(), grouped.min(), grouped.max()
        axes.plot(mean.index, mean.to_numpy(), style, label=str(name), markersize=4, linewidth=1)
        axes.fill_between(mean.index, low, high, alpha=0.12)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    if figure.log_x:
        axes.set_xscale("log")
    if figure.log_y:
        axes.set_yscale("log")
    axes.grid(True, which="both", linewidth=0.3)


def lines(figure: Figure, frame: pd.DataFrame) -> Picture:
    """One plot a value of the panel."""
    panels = list(frame[figure.panel].drop_duplicates()) if figure.panel else [None]
    picture, axes = plt.subplots(1, len(panels), figsize=(max(6.0, 4.2 * len(panels)), 4.2), squeeze=False, sharey=True)
    for one, panel in zip(axes[0], panels, strict=True):
        draw_lines(one, figure, frame if panel is None else frame[frame[figure.panel] == panel])
        if panel is not None:
            one.set_title(f"{figure.panel} = {panel}", fontsize=9)
    axes[0][-1].legend(fontsize=7)
    return picture


PICTURES = {
    "lines": lines,
    "bars": plot_bars.bars,
    "frontier": plot_frontier.frontier,
    "matrix": plot_rivals.matrix,
    "stack": plot_rivals.stack,
}


def draw(experiment: Experiment, frame: pd.DataFrame, directory: Path) -> list[Path]:
    """Write NAME[-N].svg and .png for every figure of an experiment."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    if experiment.derive:
        frame = experiment.derive(frame)
    for number, figure in enumerate(experiment.figures, 1):
        if figure.y not in frame:
            continue
        picture = PICTURES[figure.kind](figure, frame)
        suffix = "" if number == 1 else f"-{number}"
        written += save(picture, experiment.title, directory / f"{experiment.name}{suffix}")
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


def save(picture: Picture, title: str, path: Path) -> list[Path]:
    """Write a picture in both formats, the same bytes every time."""
    picture.suptitle(title, fontsize=10)
    picture.tight_layout()
    written = []
    for ending in ("svg", "png"):
        file = path.parent / f"{path.name}.{ending}"
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        picture.savefig(file, dpi=110, metadata=metadata)
        written.append(file)
    plt.close(picture)
    return written
