# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""``python -m demo``: runs the scenarios, prints the table, writes demo.png and demo.json."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from demo import machine, scenario, table
from demo.conditions import SCENARIOS, Conditions, Scenario
from demo.downloads import downloading
from demo.progress import Progress
from demo.scenario import Result
from demo.uploads import make_source, uploading
from testbed import TestbedError, netnice_up, require_root

_EPILOG = """\
A document takes from the moment its client wants it to its last byte; × is against documents alone. '% of ideal'
is the background's goodput as a share of what a router with a strict priority queue gives it; '% of spare'
(--full) as a share of what the documents left of the link in that same run. demo/README.md tells the conditions.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status: 0 done, 1 failed, 3 void (the machine was too busy)."""
    options = _parser().parse_args(argv)
    try:
        require_root()
        return _demo(options)
    except TestbedError as error:
        print(f"\ndemo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: interrupted; everything is put away", file=sys.stderr)
        return 130


def _demo(options: argparse.Namespace) -> int:
    conditions = Conditions(
        seconds=options.seconds,
        seed=options.seed,
        uploads=options.uploads,
        downloads=options.downloads,
        clients=options.clients,
    )
    begun = time.monotonic()
    results = _run_all(options.scenarios, conditions)
    seconds = time.monotonic() - begun
    doubts = table.doubts(results)
    record = {
        "conditions": asdict(conditions),
        "machine": machine.facts(),
        "seconds": round(seconds, 1),
        "trusted": all(result.path_trusted for result in results),
        "remarks": doubts,
        "scenarios": [_recorded(result) for result in results],
    }
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "demo.json").write_text(json.dumps(record, indent=1) + "\n")
    _draw(results, conditions, options.output / "demo.png")
    print("", file=sys.stderr)
    if options.json:
        print(json.dumps(record, indent=1))
    else:
        show = table.markdown if options.markdown else table.plain
        print(show(results, full=options.full))
    print(f"\n{seconds:.0f} s; {options.output / 'demo.png'} and demo.json written", file=sys.stderr)
    for doubt in doubts:
        print(f"demo: {doubt}", file=sys.stderr)
    return 0 if record["trusted"] else 3


def _run_all(scenarios: Sequence[Scenario], conditions: Conditions) -> list[Result]:
    results = []
    with contextlib.ExitStack() as stack:
        if any(one.kind == "netnice" for one in scenarios):
            stack.enter_context(netnice_up())
        transferring = downloading if conditions.downloads else partial(uploading, make_source(conditions))
        for number, one in enumerate(scenarios, 1):
            progress = Progress(f"{number}/{len(scenarios)} {one.title.format(transfers=conditions.transfers)}")
            result = scenario.run(one, conditions, transferring, progress)
            progress.end(
                f"documents {result.foreground['mean_us'] / 1e3:.0f} ms on average, "
                f"{conditions.transfers} {result.background_bps / 1e6:.2f} Mbit/s"
            )
            results.append(result)
    return results


def _draw(results: Sequence[Result], conditions: Conditions, file: Path) -> None:
    try:
        from demo.picture import draw  # matplotlib is slow to load and not needed before
    except ImportError:
        raise TestbedError(
            "matplotlib is missing, so there is no picture (the numbers are in demo.json); './setup demo' brings it"
        ) from None
    draw(results, conditions, file)


def _recorded(result: Result) -> dict[str, Any]:
    record = asdict(result)
    del record["documents"]
    return {**record, "spare_used": result.spare_used}


def _parser() -> argparse.ArgumentParser:
    defaults = Conditions()
    parser = argparse.ArgumentParser(
        prog="make demo",
        description=(__doc__ or "").partition(": ")[2].capitalize(),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    keys = ",".join(one.key for one in SCENARIOS)
    parser.add_argument("--seconds", type=_seconds, default=defaults.seconds, help="measured, each (%(default)s)")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="which documents, when (%(default)s)")
    parser.add_argument("--scenarios", type=_scenarios, default=list(SCENARIOS), help=f"some of {keys}")
    parser.add_argument("--uploads", type=_count, default=defaults.uploads, help="at a time (%(default)s)")
    parser.add_argument("--downloads", type=_count, default=defaults.downloads, help="at a time, in place of uploads")
    parser.add_argument("--clients", type=int, default=defaults.clients, help="that fetch documents (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for demo.png and demo.json (.)")
    parser.add_argument("--json", action="store_true", help="print demo.json instead of the table")
    parser.add_argument("--full", action="store_true", help="all columns: also medians, and goodput of the spare")
    parser.add_argument("--markdown", action="store_true", help="print the table as the README has it")
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 1 <= value <= 3600:
        raise argparse.ArgumentTypeError("1 to 3600 seconds")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 256:
        raise argparse.ArgumentTypeError("1 to 256 at a time")
    return value


def _scenarios(text: str) -> list[Scenario]:
    by_key = {one.key: one for one in SCENARIOS}
    unknown = [word for word in text.split(",") if word not in by_key]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: choose from {', '.join(by_key)}")
    return [by_key[word] for word in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
