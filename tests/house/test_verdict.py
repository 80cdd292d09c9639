# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The runner's sums: what each kind of output counts, and that no bad ending looks like success."""

import pytest

from runner.verdict import Counts, Known, Verdict, count_cargo, count_plain, count_pytest, judge, known_misses

CARGO_GOOD = "test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"
CARGO_BAD = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"
CARGO_IGNORED = "test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s"
DIED = "it was ended by SIGSEGV"


def test_cargo_sums_every_binary() -> None:
    assert count_cargo([CARGO_GOOD, "noise", CARGO_BAD]) == Counts(10, 2, 0)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("===== 12 passed in 0.31s =====", Counts(12, 0, 0)),
        ("12 passed in 62.31s (0:01:02)", Counts(12, 0, 0)),
        ("== 1 failed, 2 passed, 3 errors in 1.00s ==", Counts(2, 4, 0)),
        ("== 2 passed, 1 skipped, 1 xfailed, 4 warnings in 1.00s ==", Counts(2, 0, 2)),
        ("== 2 passed, 1 xpassed in 1.00s ==", Counts(2, 1, 0)),
        ("== no tests ran in 0.01s ==", Counts()),
    ],
)
def test_pytest_summary(line: str, counts: Counts) -> None:
    assert count_pytest(["something 3 passed here", line]) == counts


def test_plain_takes_the_last_line() -> None:
    assert count_plain(["1 passed, 9 failed", "total: 4 passed, 1 failed, 2 skipped"]) == Counts(4, 1, 2)


def test_plain_wants_the_line_to_itself() -> None:
    assert count_plain(["so 4 passed, 1 failed of them"]) == Counts()


def test_all_passed() -> None:
    assert judge("cargo", [CARGO_GOOD], "") == Verdict(7, 0)


def test_colours_do_not_hide_the_summary() -> None:
    assert judge("pytest", ["\x1b[32m==== \x1b[1m5 passed\x1b[0m in 0.10s ====\x1b[0m"], "") == Verdict(5, 0)


@pytest.mark.parametrize("kind", ["cargo", "pytest", "plain", "exit"])
def test_a_crash_after_good_words_is_a_failure(kind: str) -> None:
    said = {"cargo": CARGO_GOOD, "pytest": "== 7 passed in 1.00s ==", "plain": "7 passed, 0 failed", "exit": ""}
    verdict = judge(kind, [said[kind]], DIED)
    assert verdict.failed == 1
    assert DIED in verdict.reason


@pytest.mark.parametrize("kind", ["cargo", "pytest", "plain"])
def test_running_nothing_is_a_failure(kind: str) -> None:
    verdict = judge(kind, ["all fine"], "")
    assert (verdict.passed, verdict.failed) == (0, 1)


def test_a_skipped_test_is_a_failure() -> None:
    assert judge("cargo", [CARGO_IGNORED], "").failed == 2


def test_reported_failures_are_not_counted_twice() -> None:
    assert judge("cargo", [CARGO_BAD], "it ended with exit status 101").failed == 2


def test_failures_with_a_good_ending_still_fail() -> None:
    assert judge("plain", ["3 passed, 1 failed"], "") == Verdict(3, 1)


@pytest.mark.parametrize(
    ("lines", "known"),
    [
        ([], Known()),
        (["known miss: a: 2, at most 1 is the bar", "noise"], Known(1, ("a: 2, at most 1 is the bar",))),
        (["known misses: 3 of 40 bars", "known misses: 7"], Known(7)),
    ],
)
def test_known_misses_are_listed_or_summed(lines: list[str], known: Known) -> None:
    assert known_misses(lines) == known


def test_known_misses_are_not_among_those_that_passed() -> None:
    lines = ["known miss: a: 2, at most 1 is the bar", "== 3 passed, 1 missed in 1.00s =="]
    assert judge("pytest", lines, "") == Verdict(3, 0, known=Known(1, ("a: 2, at most 1 is the bar",)))


def test_a_part_of_known_misses_alone_did_run() -> None:
    assert judge("pytest", ["known miss: a: 2, at most 1 is the bar", "== 1 missed in 1.00s =="], "").failed == 0
