# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The command line: choose parts, run them one after another, print the sum last."""

import argparse
import sys
import time
from pathlib import Path

from .parts import BadTable, Part, choose, read_parts
from .process import as_root, execute, may_be_root
from .verdict import Known, Verdict, judge

TOP = Path(__file__).resolve().parents[2]


def run_part(part: Part, root_allowed: bool) -> Verdict:
    """Runs one part and judges it."""
    command = part.run
    if part.root:
        if not root_allowed:
            return Verdict(0, 1, "it needs root, and sudo is missing or refused: run it as root")
        command = as_root(part.run)
    outcome = execute(command, part.minutes * 60, TOP)
    return judge(part.count, outcome.lines, outcome.ending)


def row(part: Part, verdict: Verdict, seconds: float) -> str:
    """One line of the closing table."""
    reason = f"  {verdict.reason}" if verdict.reason else ""
    return f"  {part.name:<22}{verdict.passed:>6}{verdict.failed:>8}{verdict.known.count:>8}{seconds:>9.1f}{reason}"


def listed(known: list[tuple[str, Known]]) -> list[str]:
    """The bars that are known not to be met, under their number: no test of theirs is among those that passed."""
    lines = [f"known misses: {sum(one.count for _, one in known)}"]
    for name, one in known:
        lines += [f"  {name}: {said}" for said in one.said]
        if one.count > len(one.said):
            lines.append(f"  {name}: {one.count - len(one.said)} (listed above, in what it printed)")
    return lines


def run_all(parts: list[Part]) -> tuple[int, int]:
    """Runs the parts in order, then lists the known misses; returns how many tests passed and failed."""
    root_allowed = may_be_root() if any(part.root for part in parts) else False
    rows: list[str] = []
    known: list[tuple[str, Known]] = []
    passed = failed = 0
    for number, part in enumerate(parts, 1):
        print(f"== {number}/{len(parts)} {part.name}: {' '.join(part.run)}", flush=True)
        start = time.monotonic()
        verdict = run_part(part, root_allowed)
        rows.append(row(part, verdict, time.monotonic() - start))
        if verdict.reason:
            print(f"== {part.name}: {verdict.reason}", flush=True)
        passed += verdict.passed
        failed += verdict.failed
        known.append((part.name, verdict.known))
    print(f"\n  {'part':<22}{'passed':>6}{'failed':>8}{'missed':>8}{'seconds':>9}")
    print("\n".join(rows))
    for line in listed(known):
        print(line)
    return passed, failed


def main(argv: list[str]) -> int:
    """Exit status 0 when everything passed, 1 when something failed, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="tests/run", description=__doc__)
    parser.add_argument("part", nargs="*", help="names or groups of tests/parts.toml (default: all)")
    parser.add_argument("--list", action="store_true", help="list the parts and stop")
    parser.add_argument("--table", type=Path, default=TOP / "tests" / "parts.toml", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    try:
        parts = choose(read_parts(arguments.table), arguments.part)
    except BadTable as error:
        print(f"tests/run: {error}", file=sys.stderr)
        return 2
    if arguments.list:
        for part in parts:
            print(f"{part.group:<8}{part.name:<22}{' '.join(part.run)}")
        return 0
    try:
        passed, failed = run_all(parts)
    except KeyboardInterrupt:
        print("tests/run: interrupted; what was running has been ended", file=sys.stderr)
        return 130
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0
