# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One HTML page."""

import argparse
from pathlib import Path

from netnice_lab.commands import options
from netnice_lab.engine import sweep


def add(parser: argparse.ArgumentParser) -> None:
    """Where to."""
    options.many(parser)
    parser.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE")


def run(arguments: argparse.Namespace) -> int:
    """Write the page."""
    from netnice_lab.publishing import report

    experiments = options.chosen(arguments.names)
    frame, runs = options.collect(arguments, experiments)
    report.write([(e, sweep.rows_of(frame, e)) for e in experiments], runs, arguments.out)
    print(arguments.out)
    return 0
