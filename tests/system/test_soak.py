# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""make soak in short: too short for a leak of a few bytes to show, long enough for all that is counted to add up."""

from __future__ import annotations

from soak import rows, soak
from system.harness.commands import Run

CONNECTIONS, SECONDS, SETTLES = 1500, 15, 3


def test_all_adds_up(down: dict[int, str], netnicectl: Run) -> None:
    netnicectl("up")
    found = rows(soak(CONNECTIONS, SECONDS, lambda _: None, settles=SETTLES))
    assert [row for row in found if not row[3]] == []
