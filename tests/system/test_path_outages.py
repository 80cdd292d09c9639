# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Bad days: nothing gets through for a while."""

from __future__ import annotations

import contextlib
import statistics
import time
from itertools import pairwise

import pytest

from system.harness.bursts import bursts
from system.harness.days import Day, on_a_path, say
from testbed import Capture, black_hole, parameters, sockets

_HOLE = 3.0


def test_a_black_hole_at_an_eighth_of_a_segment(capsys: pytest.CaptureFixture[str]) -> None:
    """After the outage: retransmission by the kernel's back-off, then exact pairs again."""

    def measure(day: Day) -> tuple[list[float], list[float], float, float]:
        with (
            parameters("netnice", force_window=512, max_gap=0, peer_gap=0),
            day.uploads(1, "netnice"),
            Capture(day.b) as seen,
        ):
            time.sleep(6)
            fell, fell_wall = time.monotonic(), time.time()
            with black_hole(day.path):
                time.sleep(_HOLE)
            healed_wall = time.time()
            time.sleep(10)
            (socket,) = sockets(day.a, peer_port=day.store.port)
            assert socket.congestion_control == "netnice"
            assert time.monotonic() - fell > _HOLE
        arrived = [p for p in seen.packets if p.payload > 0 and not p.leaves]
        before = [t for t, _ in bursts(p for p in arrived if p.seconds < fell_wall)]
        after = [t for t, _ in bursts(p for p in arrived if p.seconds > healed_wall)]
        return before, after, healed_wall, socket.number("rtt") / 1e3

    before, after, healed, rtt = on_a_path(measure)
    ideal = 2 * 8 * rtt
    resumed = after[0] - healed
    steady = statistics.median(_gaps([t for t in after if t > healed + 4]))
    say(capsys, f"{_HOLE:g} s black hole at W = 1/8: back after {resumed:.2f} s; a pair every")
    say(capsys, f"{statistics.median(_gaps(before)):.3f} s before, {steady:.3f} s after (ideal {ideal:.3f} s)")
    # The kernel's timer doubles: 0.2, 0.6, 1.4, 3.0, 6.2 s after the last that got through.
    assert resumed <= 3.5
    assert steady == pytest.approx(ideal, rel=0.05)


def test_lost_syns_only_cost_their_time(capsys: pytest.CaptureFixture[str]) -> None:
    """SYNs go again after 1 and 3 s; from then on all is as ever, and the socket is on nice."""

    def measure(day: Day) -> tuple[float, set[str]]:
        found: set[str] = set()
        with contextlib.ExitStack() as running:
            with black_hole(day.path):
                start = time.monotonic()
                (upload,) = running.enter_context(day.uploads(1, "netnice", bytes_each=2 << 20))
                time.sleep(2)
            while upload.running():
                found |= day.upload_congestion_controls()
                assert time.monotonic() < start + 20
                time.sleep(0.1)
            assert upload.returncode == 0
            return time.monotonic() - start, found

    took, found = on_a_path(measure)
    say(capsys, f"SYNs lost for 2 s: 2 MiB uploaded after {took:.2f} s on {found}")
    assert found == {"netnice"}
    assert took <= 3 + 4


def _gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]
