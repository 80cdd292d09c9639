# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compare with the pins and the bars."""

import argparse
from collections import Counter

from netnice_lab.commands import options
from netnice_lab.engine import mutants, sweep
from netnice_lab.judgement import bars, digests, pins
from netnice_lab.judgement.verdict import Outcome


def add(parser: argparse.ArgumentParser) -> None:
    """How much, and against what."""
    options.many(parser)
    parser.add_argument("--quick", action="store_true", help="a part that takes minutes, for CI")
    parser.add_argument("--exact", action="store_true", help="also that every run has the bytes it had when pinned")
    parser.add_argument("--section4", action="store_true", help="only the paper's section 4")
    parser.add_argument(
        "--mutant", action="append", default=[], choices=list(mutants.MUTANTS),
        help="check deliberately broken cores: the check must fail",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Compare; show old, new and bound of whatever moved."""
    experiments = [e for e in options.pinned(arguments.names) if e.section4 or not arguments.section4]
    if arguments.quick:
        experiments = [e for e in experiments if e.quick]
    frame, _ = options.collect(arguments, experiments, quick=arguments.quick, broken=tuple(arguments.mutant))
    verdicts = [
        verdict
        for found in experiments
        for judged in (pins.check, bars.judge_all)
        for verdict in judged(found, sweep.rows_of(frame, found))
    ]
    for verdict in verdicts:
        if verdict.failed or verdict.old is None:
            print(verdict.line())
    count = Counter(verdict.outcome for verdict in verdicts)
    passed, failed = count[Outcome.HOLDS], count[Outcome.FAILED]
    if arguments.exact:
        compared = sum((digests.compare(e, sweep.rows_of(frame, e)) for e in experiments), digests.Compared())
        print("\n".join(compared.lines()))
        passed += compared.same
        failed += compared.failed
    print(f"known misses: {count[Outcome.KNOWN_MISS]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
