# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""make clients in short: real clients end, or go on without an error, under a floor beside CUBIC."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

import clients as work
from clients import FLOOR, KINDS, Found, Kind, clients
from measurements import Measure
from system.harness.fetchers import Client
from testbed import Namespace, program


def found(outcome: str, errors: str = "", plain: Found | None = None) -> Found:
    return Found("a", outcome, 1, 1, 0, errors, plain=plain)


@pytest.mark.parametrize(
    ("one", "well"),
    [
        (found("ended"), True),
        (found("goes on"), True),
        (found("goes on", "retried"), False),
        (found("stands still"), False),
        (found("failed (1)"), False),
        (found("failed (1)", plain=found("ended")), False),
        (found("failed (1)", plain=found("failed (1)")), True),
    ],
)
def test_what_counts(one: Found, well: bool) -> None:
    assert one.well == well


@pytest.mark.verify("two minutes of real traffic")
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("fresh")
def test_six_side_by_side(measure: Measure) -> None:
    rows = clients(120, lambda _: None)
    assert [row.name for row in rows] == list(KINDS)
    assert [row for row in rows if not row.well] == []
    assert min(row.rate for row in rows) > FLOOR / 2
    for row in rows:
        late = "" if row.trusted else " (void: the machine did not keep the path's time)"
        says = f"{row.name} with a floor of {FLOOR // 1000} kbit/s beside CUBIC, of the floor{late}"
        measure(says, row.rate / FLOOR, "×", least=0.9)


@contextlib.contextmanager
def failing(far: Namespace, size: int) -> Iterator[Client]:
    yield Client([program("sh"), "-c", "echo refused >&2; exit 3"], 1)


@contextlib.contextmanager
def waiting(far: Namespace, size: int) -> Iterator[Client]:
    yield Client([program("sleep"), "60"], 1)


@pytest.mark.verify("ten seconds beside a real flow")
@pytest.mark.usefixtures("up")
def test_a_client_that_fails_is_run_by_plain_tcp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "KINDS", {"a": Kind("", True, failing), "b": Kind("", False, waiting)})
    monkeypatch.setattr(work, "STILL", 1)
    one, other = clients(2, lambda _: None, ["a", "b"])
    assert (one.outcome, one.errors) == ("failed (3)", "refused")
    assert one.plain and one.plain.outcome == "failed (3)"
    assert other.outcome == "stands still"
    assert other.plain and other.plain.outcome == "stands still"
