# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Small pictures of figures, as SVG, of what is recorded: no guest runs, and Matplotlib is not needed.

A picture has the first panel of a figure: a line a series, or a bar where each has one point. A point is the mean over
the seeds.
"""

import math
from collections.abc import Iterator, Sequence
from html import escape

import pandas as pd

from netnice_lab.judgement import recorded
from netnice_lab.model.experiment import Experiment, Figure, Row, describe

WIDTH, HEIGHT = 200, 140
LEFT, RIGHT, TOP, BOTTOM = 8, 192, 26, 132
"""The axes; the caption is above them."""
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
KINDS = ("lines", "frontier", "bars", "boxes")
"""A matrix and a stack say nothing as points."""
UNCONNECTED = ("bars", "boxes")

Line = list[tuple[float, float]]


def rows(experiment: Experiment) -> pd.DataFrame:
    """What is recorded of an experiment, of whatever sources: a row a run, in the order of the sweep."""
    by_cell: dict[str, list[Row]] = {}
    for (_, cell, seed), one in recorded.read([experiment]).items():
        by_cell.setdefault(cell, []).append({"seed": seed, **one.numbers})
    return pd.DataFrame([{**cell, **row} for cell in experiment.cells() for row in by_cell.get(describe(cell), [])])


def derived(experiment: Experiment, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that are drawn. What is measured but not recorded is missing, and so is what follows from it."""
    while experiment.derive:
        try:
            return experiment.derive(frame)
        except KeyError as error:
            missing = str(error.args[0])
            if missing in frame:
                raise
            frame = frame.assign(**{missing: math.nan})
    return frame


def drawable(experiment: Experiment) -> tuple[Figure, pd.DataFrame] | None:
    """The first figure whose numbers are recorded, with its rows."""
    frame = rows(experiment)
    if frame.empty:
        return None
    frame = derived(experiment, frame)
    for figure in experiment.figures:
        wanted = {figure.x, figure.y, figure.series, *([figure.panel] if figure.panel else [])}
        if figure.kind in KINDS and wanted <= set(frame.columns) and len(lines(figure, frame)) > 0:
            return figure, frame
    return None


def lines(figure: Figure, frame: pd.DataFrame) -> list[Line]:
    """The first panel's lines, each from left to right; an axis of words has them at 0, 1, 2."""
    if figure.panel:
        frame = frame[frame[figure.panel] == frame[figure.panel].iloc[0]]
    numeric = pd.api.types.is_numeric_dtype(frame[figure.x])
    places = {value: float(value) if numeric else at for at, value in enumerate(frame[figure.x].drop_duplicates())}
    found = []
    for _, some in frame.groupby(figure.series, sort=False):
        means = some.groupby(figure.x, sort=False)[figure.y].mean().dropna()
        points = [
            (scaled(places[x], numeric and figure.log_x), scaled(float(y), figure.log_y)) for x, y in means.items()
        ]
        found.append(sorted(point for point in points if all(map(math.isfinite, point))))
    found = [line for line in found if line]
    if len({x for line in found for x, _ in line}) == 1:  # a point a series: beside each other
        return [[(float(number), line[0][1])] for number, line in enumerate(found)]
    return found


def scaled(value: float, log: bool) -> float:
    """On the axis; what a logarithmic one does not have is infinite."""
    return value if not log else math.log10(value) if value > 0 else math.inf


def placed(drawn: Sequence[Line], log: bool) -> Iterator[Line]:
    """The lines in the picture's own units; an axis that is not logarithmic begins at 0."""
    xs, ys = ([point[axis] for line in drawn for point in line] for axis in (0, 1))
    ys += [] if log else [0.0]

    def part(value: float, of: Sequence[float]) -> float:
        return (value - min(of)) / (max(of) - min(of)) if max(of) > min(of) else 0.5

    for line in drawn:
        yield [
            (LEFT + 6 + (RIGHT - LEFT - 12) * part(x, xs), BOTTOM - 6 - (BOTTOM - TOP - 12) * part(y, ys))
            for x, y in line
        ]


def svg(caption: str, figure: Figure, frame: pd.DataFrame) -> str:
    """The picture, the same bytes for the same numbers."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="17" font-family="sans-serif" font-size="12" fill="#222">{escape(caption)}</text>',
        f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#999"/>',
    ]
    drawn = list(placed(lines(figure, frame), figure.log_y))
    bars = all(len(line) == 1 for line in drawn)
    for number, line in enumerate(drawn):
        colour = COLOURS[number % len(COLOURS)]
        if figure.kind not in UNCONNECTED:
            through = "L".join(f"{x:.1f} {y:.1f}" for x, y in line)
            parts.append(f'<path d="M{through}" fill="none" stroke="{colour}"/>')
        if bars:
            parts.append(f'<path d="M{line[0][0]:.1f} {BOTTOM}V{line[0][1]:.1f}" stroke="{colour}" stroke-width="3"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.8" fill="{colour}"/>' for x, y in line]
    return "\n".join([*parts, "</svg>\n"])
