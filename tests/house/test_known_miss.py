# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Known misses: apart from what passed, listed, and failing as soon as they are met."""

from pathlib import Path

import pytest

from runner.verdict import count_pytest, judge

pytest_plugins = ["pytester"]

TESTS = Path(__file__).resolve().parents[1]
CASE = """
def test_one(known_miss):
    known_miss("a cost of 63", measured={measured}, {bar}, reason="it is young")

def test_other():
    pass
"""


def run(pytester: pytest.Pytester, body: str) -> list[str]:
    """What pytest prints of these tests."""
    pytester.makepyfile(body)
    words = ["-p", "known_miss", "-p", "no:cacheprovider", "-o", f"pythonpath={TESTS}"]
    return pytester.runpytest_subprocess(*words).stdout.lines


def test_a_miss_is_listed_and_no_passed_test(pytester: pytest.Pytester) -> None:
    verdict = judge("pytest", run(pytester, CASE.format(measured=70.2, bar="most=63")), "")
    assert (verdict.passed, verdict.failed, verdict.known.count) == (1, 0, 1)
    assert verdict.known.said == ("a cost of 63: 70.2, at most 63 is the bar (it is young)",)


@pytest.mark.parametrize(("measured", "bar"), [(62, "most=63"), (63, "most=63"), (70, "least=63, noise=0.1")])
def test_one_that_is_met_fails(pytester: pytest.Pytester, measured: float, bar: str) -> None:
    lines = run(pytester, CASE.format(measured=measured, bar=bar))
    assert count_pytest(lines).failed == 1
    assert any("a known miss is met: a cost of 63" in line for line in lines)


def test_met_by_less_than_the_noise_is_still_missed(pytester: pytest.Pytester) -> None:
    verdict = judge("pytest", run(pytester, CASE.format(measured=60, bar="most=63, noise=0.1")), "")
    assert (verdict.passed, verdict.failed, verdict.known.count) == (1, 0, 1)


def test_a_failed_assert_is_a_failure_whatever_was_missed(pytester: pytest.Pytester) -> None:
    lines = run(pytester, CASE.format(measured=70, bar="most=63").replace("pass", "assert False"))
    assert (judge("pytest", lines, "").failed, judge("pytest", lines, "").known.count) == (1, 1)
    lines = run(pytester, CASE.format(measured=70, bar="most=63").replace('young")', 'young")\n    assert False'))
    assert (judge("pytest", lines, "").failed, judge("pytest", lines, "").known.count) == (1, 0)
