# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A live connection changes its level while somebody fills the path: it still knows what the empty path was like."""

from __future__ import annotations

import time

import pytest

from system.harness.commands import call
from system.harness.days import RATE_BPS, Day, on_a_path, say


def test_a_switch_keeps_the_base_rtt(capsys: pytest.CaptureFixture[str]) -> None:
    """The queue never empties, so whoever forgot the base takes the queue for the path, and its share of it."""

    def measure(day: Day) -> tuple[float, float, set[str]]:
        with day.arriving_uploads() as uploads, day.uploads(1, "netnice") as (upload,):
            time.sleep(3)
            alone = uploads.rate(time.monotonic() - 1.5, time.monotonic())
            with day.download(), day.download():
                time.sleep(3)
                for level in ("1", "0"):
                    call("netnice", "-n", level, "-p", str(upload.pid))
                start = time.monotonic()
                time.sleep(6)
                return alone, uploads.rate(start, start + 5.9), day.upload_congestion_controls()

    alone, beside, found = on_a_path(measure, queue="4bdp")
    say(capsys, f"alone {alone / 1e6:.2f} Mbit/s; switched twice beside two downloads {beside / 1e6:.3f} Mbit/s")
    assert found == {"netnice"}
    assert alone > RATE_BPS / 4
    assert beside < 0.01 * RATE_BPS
