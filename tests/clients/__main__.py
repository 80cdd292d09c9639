# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""make clients: do real clients end, or go on, under a floor? Loads netnice anew, and takes it down at the end."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from clients import FLOOR, KINDS, RATE, RTT, Found, clients
from system.harness.commands import call
from testbed import require_root
from testbed.reservation import reserved


def main() -> int:
    """Prints it; 1 when a client fails under the floor that does not fail by plain TCP."""
    parser = argparse.ArgumentParser(prog="make clients ARGS=", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20, help="for how long (20)")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), help="these clients (all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found there, too")
    arguments = parser.parse_args()
    if arguments.minutes < 1:
        parser.error("it takes a minute at least")
    require_root()
    console = Console()
    with reserved("make clients"):
        call("netnicectl", "down")
        call("netnicectl", "up")
        try:
            with Progress(console=console) as progress:
                task = progress.add_task("seconds", total=arguments.minutes * 60)
                found = clients(arguments.minutes * 60, lambda s: progress.update(task, completed=s), arguments.only)
        finally:
            call("netnicectl", "down")
    console.print(f"{arguments.minutes:g} minutes, floor {FLOOR // 1000} kbit/s, beside a CUBIC flow on {RATE}, {RTT}")
    console.print(table(found))
    if late := [one.name for one in found if not one.trusted]:
        console.print(f"The machine did not keep the time of these paths: {', '.join(late)}.")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
    return int(not all(one.well for one in found))


def table(found: list[Found]) -> Table:
    """A row a client; below one that failed, what it did by plain TCP."""
    made = Table("client", "does", "outcome", "minutes", "MB", "kbit/s", "longest pause", "errors", "")
    for one in found:
        made.add_row(one.name, KINDS[one.name].does, *cells(one), "" if one.well else "wrong")
        if one.plain:
            made.add_row("", "by plain TCP", *cells(one.plain), "")
    return made


def cells(one: Found) -> tuple[str, ...]:
    """Its figures, as text."""
    figures = f"{one.seconds / 60:.1f}", f"{one.moved / 1e6:.2f}", f"{one.rate / 1e3:.0f}", f"{one.pause:.1f} s"
    return one.outcome, *figures, one.errors or "none"


if __name__ == "__main__":
    sys.exit(main())
