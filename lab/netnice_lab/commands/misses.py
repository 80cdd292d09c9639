# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The bars that the runs miss, by their reasons."""

import argparse

from netnice_lab.commands import options
from netnice_lab.engine import sweep
from netnice_lab.judgement import misses

HELD_OUT = 1001
"""The first of the seeds that no pin and no tuning knows."""


def add(parser: argparse.ArgumentParser) -> None:
    """With which seeds."""
    options.many(parser)
    parser.add_argument("--held-out", action="store_true", help="with seeds that nobody has tuned with")


def run(arguments: argparse.Namespace) -> int:
    """Print every bar that is missed, also those of which that is known."""
    experiments = options.chosen(arguments.names)
    frame, _ = options.collect(arguments, experiments, first=HELD_OUT if arguments.held_out else 1)
    for found in experiments:
        print("\n".join([found.name, *misses.lines(found, sweep.rows_of(frame, found))]))
    return 0
