# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figures as SVG and PNG."""

import argparse
from pathlib import Path

from netnice_lab.commands import options
from netnice_lab.engine import sweep


def add(parser: argparse.ArgumentParser) -> None:
    """Which cells, and where to."""
    options.many(parser)
    options.only(parser)
    parser.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR")


def run(arguments: argparse.Namespace) -> int:
    """Draw."""
    from netnice_lab.publishing import plot

    experiments = options.chosen(arguments.names)
    frame, runs = options.collect(arguments, experiments, options.parse_only(arguments.only))
    for found in experiments:
        rows = sweep.rows_of(frame, found)
        for path in plot.draw(found, rows, arguments.out) + plot.draw_timelines(found, runs, arguments.out):
            print(path)
    return 0
