# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Bars that are known not to be met: counted apart from the tests that passed, listed with what was measured.

A test that misses a bar says so by the fixture, and is then no passed test:

    def test_an_ack_costs_63_ns(known_miss: KnownMiss) -> None:
        known_miss("an ACK costs at most 63 ns", measured=70.0, most=63.0, reason="siblings are counted in a map")

Its other asserts hold as ever. When the bar begins to be met the test fails: then assert it instead.
"""

from __future__ import annotations

from typing import Protocol

import pytest

_PROPERTY = "known miss"


class KnownMiss(Protocol):
    """What the fixture gives."""

    def __call__(
        self,
        says: str,
        *,
        measured: float,
        reason: str,
        most: float | None = None,
        least: float | None = None,
        noise: float = 0.0,
    ) -> None:
        """Records the bar ``says`` as missed, by ``reason``; fails if it is met.

        ``most`` or ``least`` is the bar. ``noise`` is the part of it by which two runs of the same differ: a value
        inside the bar by less is not yet met.
        """


@pytest.fixture
def known_miss(request: pytest.FixtureRequest) -> KnownMiss:
    """A bar that is known not to be met."""

    def record(
        says: str,
        *,
        measured: float,
        reason: str,
        most: float | None = None,
        least: float | None = None,
        noise: float = 0.0,
    ) -> None:
        if (most is None) == (least is None):
            raise ValueError("a bar is either a most or a least")
        met = measured <= most * (1 - noise) if most is not None else measured >= (least or 0) * (1 + noise)
        bar = f"at most {most:g}" if most is not None else f"at least {least:g}"
        if met:
            pytest.fail(f"a known miss is met: {says}: {measured:.3g}, {bar} is the bar: assert it from now on")
        request.node.user_properties.append((_PROPERTY, f"{says}: {measured:.3g}, {bar} is the bar ({reason})"))

    return record


def _missed(report: pytest.TestReport) -> list[str]:
    return [str(value) for name, value in report.user_properties if name == _PROPERTY]


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Such a test is no passed one: pytest's own summary counts it as "missed"."""
    if report.when == "call" and report.passed and _missed(report):
        return "missed", "m", "MISSED"
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Lists them as the runner reads them, a line each."""
    for report in terminalreporter.getreports("missed"):
        for said in _missed(report):
            terminalreporter.line(f"known miss: {said}")
