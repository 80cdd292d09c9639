# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From what a part printed and how it ended to a number of passed and failed tests.

The rule: nothing that did not run and finish may look like success. A part that ends badly,
or that ran no test, counts at least one failure; so does every skipped test. A known miss, a bar that is known
not to be met, is neither: it is counted apart.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")
PLAIN = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
PYTEST_LINE = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s.*$")
PYTEST_WORD = re.compile(r"(\d+) ([a-z]+)")
#: What a part says of its known misses: one of them, or how many there are.
KNOWN_MISS = re.compile(r"^known miss: (.+)$")
KNOWN_MISSES = re.compile(r"^known misses: (\d+)\b")


@dataclass(frozen=True)
class Counts:
    """What a runner said of itself; ``skipped`` is whatever it left out."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class Known:
    """Bars that are known not to be met: how many, and what was said of each by the parts that list them."""

    count: int = 0
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What is added to the sum, and in words why a failure is counted that no test reported."""

    passed: int
    failed: int
    reason: str = ""
    known: Known = Known()


def known_misses(lines: Iterable[str]) -> Known:
    """Those that a part lists or sums; of two sums the last counts, as it is the whole."""
    lines = list(lines)
    said = tuple(m.group(1) for line in lines if (m := KNOWN_MISS.match(line)))
    sums = [int(m.group(1)) for line in lines if (m := KNOWN_MISSES.match(line))]
    return Known(sums[-1] if sums else len(said), said)


def count_cargo(lines: Iterable[str]) -> Counts:
    """Sums the ``test result:`` line of every test binary."""
    rows = [tuple(map(int, m.groups())) for line in lines if (m := CARGO.match(line))]
    return Counts(*(sum(column) for column in zip(*rows, strict=True))) if rows else Counts()


def count_pytest(lines: Iterable[str]) -> Counts:
    """Reads pytest's last summary line; an expected failure is a test left out."""
    found = [m.group(1) for line in lines if (m := PYTEST_LINE.match(line))]
    if not found:
        return Counts()
    words = {word: int(number) for number, word in PYTEST_WORD.findall(found[-1])}
    return Counts(
        passed=words.get("passed", 0),
        failed=sum(words.get(w, 0) for w in ("failed", "error", "errors", "xpassed")),
        skipped=sum(words.get(w, 0) for w in ("skipped", "xfailed")),
    )


def count_plain(lines: Iterable[str]) -> Counts:
    """Reads the last line ``N passed, N failed`` (``, N skipped`` may follow)."""
    found = [m for line in lines if (m := PLAIN.match(line))]
    return Counts(*(int(n or 0) for n in found[-1].groups())) if found else Counts()


def count_exit(_lines: Iterable[str]) -> Counts:
    """A check without numbers is one test; :func:`judge` fails it when it ends badly."""
    return Counts(passed=1)


COUNTERS: dict[str, Callable[[Iterable[str]], Counts]] = {
    "cargo": count_cargo,
    "pytest": count_pytest,
    "plain": count_plain,
    "exit": count_exit,
}


def judge(kind: str, lines: Iterable[str], ending: str) -> Verdict:
    """Judges one part; ``ending`` is empty for exit status 0, else says how it ended."""
    lines = [ANSI.sub("", line).rstrip() for line in lines]
    return replace(_judged(kind, lines, ending), known=known_misses(lines))


def _judged(kind: str, lines: list[str], ending: str) -> Verdict:
    counts = COUNTERS[kind](lines)
    if kind == "exit":
        return Verdict(0, 1, ending) if ending else Verdict(1, 0)
    failed = counts.failed + counts.skipped
    if counts.skipped:
        return Verdict(counts.passed, failed, f"{counts.skipped} skipped: a skipped test counts as failed")
    if ending and not failed:
        return Verdict(counts.passed, 1, f"{ending} although no test had failed")
    if counts.passed + failed + known_misses(lines).count == 0:
        return Verdict(0, 1, "it ran no test")
    return Verdict(counts.passed, failed)
