# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Lab against ns-3 with the same cores."""

import argparse

from netnice_lab.commands import options


def add(parser: argparse.ArgumentParser) -> None:
    """How many seeds."""
    options.local(parser)
    parser.add_argument("--seeds", type=options.positive, default=2, help="seeds a cell (default %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Compare with ns-3."""
    from netnice_lab.comparison import crosscheck

    return crosscheck.main(arguments.seeds, arguments.jobs, arguments.wall_limit, options.NOTES)
