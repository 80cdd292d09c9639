# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Bars with the least and the most of their runs as narrow lines, a plot a value of the panel: TCP Nice's figure 8."""

import math

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Patch

from netnice_lab.model.experiment import Figure

ACROSS = 4
"""Plots side by side."""


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
