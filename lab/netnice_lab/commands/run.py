# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Run experiments, print a table."""

import argparse
from pathlib import Path

from netnice_lab.commands import options
from netnice_lab.engine import sweep
from netnice_lab.measures import results


def add(parser: argparse.ArgumentParser) -> None:
    """Where the numbers go."""
    options.many(parser)
    options.only(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="one row a run")
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="one row a run")
    parser.add_argument("--raw", type=Path, metavar="DIR", help="every document, flow and sample as CSV")


def run(arguments: argparse.Namespace) -> int:
    """Run, print means, write files."""
    experiments = options.chosen(arguments.names)
    frame, pairs = options.collect(arguments, experiments, options.parse_only(arguments.only))
    for found in experiments:
        rows = sweep.rows_of(frame, found)
        means = rows.groupby(list(found.sweep), sort=False)[results.measured(rows, found.sweep)].mean()
        print(found.name)
        print(means.round(3).to_string())
    for file in (arguments.json, arguments.parquet):
        if file:
            results.write(frame, file)
    if arguments.raw:
        write_raw(arguments.raw, pairs)
    return 0


def write_raw(directory: Path, pairs: options.Runs) -> None:
    """Every guest's own tables, a directory a run."""
    for task, output in pairs:
        place = directory / task.name.replace(" ", "/").replace(",", "_")
        place.mkdir(parents=True, exist_ok=True)
        for name, text in output.files.items():
            (place / name).write_text(text)
