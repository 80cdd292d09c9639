# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The two figures of the report on low-priority TCP that are not lines: a matrix of scatters and stacked bars."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure as Picture

from netnice_lab.model.experiment import Figure

LEAD, BEHIND = "0.93", "0.80"
"""Greys of the regions where the column has more than the row, and less."""


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
