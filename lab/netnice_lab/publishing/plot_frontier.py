# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a background finds against what it costs: each protocol a point, some of them a curve; a limit has no names."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from netnice_lab.model.experiment import Figure

COLUMNS = 3
FLOOR = 1.0
"""Per cent: what costs less, or seems to speed others up, is drawn as costing so much; the axis is logarithmic."""


def frontier(figure: Figure, frame: pd.DataFrame) -> Picture:
    """A plot a value of the panel; the mean over the seeds."""
    panels = list(frame[figure.panel].drop_duplicates())
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    picture, axes = plt.subplots(
        rows, columns, figsize=(4.6 * columns, 4.2 * rows), squeeze=False, sharex=True, sharey=True
    )
    for one in axes.flat[len(panels) :]:
        one.set_visible(False)
    for one, panel in zip(axes.flat, panels, strict=False):
        draw(one, figure, frame[frame[figure.panel] == panel])
        one.set_title(f"{figure.panel} = {panel}", fontsize=9)
    for one in axes[:, 0]:
        one.set_ylabel(figure.y_label)
    for one in axes[-1]:
        one.set_xlabel(figure.x_label)
    return picture


def draw(axes: Axes, figure: Figure, frame: pd.DataFrame) -> None:
    """Right and down is better."""
    for number, curve in enumerate(frame[figure.series].drop_duplicates()):
        rows = frame[frame[figure.series] == curve]
        limit = rows.protocol.isna().all()
        means = rows.groupby(figure.x if limit else "protocol", sort=False)[[figure.x, figure.y]].mean()
        low = means[figure.y].clip(lower=FLOOR)
        style, colour = ("--", "black") if limit else ("o-", f"C{number % 10}")
        axes.plot(means[figure.x], low, style, color=colour, markersize=4, linewidth=1)
        for name, x, y in zip([] if limit else means.index, means[figure.x], low, strict=False):
            axes.annotate(str(name), (x, y), (3, 3), textcoords="offset points", fontsize=6)
    axes.set_yscale("log")
    axes.grid(True, which="both", linewidth=0.3)
