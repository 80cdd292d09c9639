# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""make soak: netnice in long use, and an account of it. Loads netnice anew, and takes it down at the end."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from soak import least_connections, rows, soak
from system.harness.commands import call
from testbed import require_root


def main() -> int:
    """Prints it; 1 when something is not as it should be."""
    parser = argparse.ArgumentParser(prog="make soak ARGS=", description=__doc__)
    parser.add_argument("--connections", type=int, default=100_000, help="how many (100000)")
    parser.add_argument("--minutes", type=float, default=30, help="over how long (30)")
    arguments = parser.parse_args()
    if arguments.connections < 100 or arguments.minutes < 0:
        parser.error("it takes 100 connections at least, and no time less than none")
    require_root()
    call("netnicectl", "down")
    call("netnicectl", "up")
    console = Console()
    try:
        with Progress(console=console) as progress:
            task = progress.add_task("connections", total=arguments.connections)
            outcome = soak(arguments.connections, arguments.minutes * 60, lambda n: progress.update(task, completed=n))
    finally:
        call("netnicectl", "down")
    table = Table("", "should be", "is", "")
    found = rows(outcome)
    for what, wanted, is_now, well in found:
        table.add_row(what, wanted, is_now, "" if well else "wrong")
    console.print(f"{outcome.expected.connections:,} connections over {arguments.minutes:g} minutes")
    console.print(table)
    if arguments.connections < least_connections():
        console.print(f"A leak of a note on a socket would show from {least_connections():,} connections on.")
    return int(not all(well for *_, well in found))


if __name__ == "__main__":
    sys.exit(main())
