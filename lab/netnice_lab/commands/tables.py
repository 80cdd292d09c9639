# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Make the tables of a document again."""

import argparse
from pathlib import Path

from netnice_lab.commands import options
from netnice_lab.engine import sweep
from netnice_lab.publishing import tables


def add(parser: argparse.ArgumentParser) -> None:
    """Which document."""
    options.local(parser)
    parser.add_argument("file", type=Path, metavar="FILE", help="for example docs/levels.md")
    parser.set_defaults(cluster=None, trace=None, seeds=None)


def run(arguments: argparse.Namespace) -> int:
    """Run what its tables need and write them."""
    experiments = options.chosen(tables.wanted(arguments.file))
    frame, _ = options.collect(arguments, experiments)
    tables.rewrite(arguments.file, {e.name: (e, sweep.rows_of(frame, e)) for e in experiments})
    print(arguments.file)
    return 0
