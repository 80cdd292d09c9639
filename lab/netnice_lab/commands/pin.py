# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Accept the present results."""

import argparse

from netnice_lab.commands import options
from netnice_lab.engine import sweep
from netnice_lab.judgement import digests, pins


def add(parser: argparse.ArgumentParser) -> None:
    """What of them."""
    options.many(parser)
    options.one_core(parser)
    parser.add_argument("--digests", action="store_true", help="only the digests that 'check --exact' compares")


def run(arguments: argparse.Namespace) -> int:
    """Write pins and digests, or the digests alone."""
    experiments = options.pinned(arguments.names) if arguments.digests else options.chosen(arguments.names)
    frame, _ = options.collect(arguments, experiments, core=arguments.core)
    for found in experiments:
        rows = sweep.rows_of(frame, found)
        if rows.empty:
            continue
        if not arguments.digests:
            print(pins.pin(found, rows))
        print(digests.record(found, rows))
    return 0
