# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How soon uploads give way to a download that begins, in round trips of the empty path."""

from __future__ import annotations

import math
import signal
import statistics
import time
from collections.abc import Sequence

import pytest

from system.harness.days import RATE_BPS, Day, on_a_path, say
from testbed import Capture, Packet

_RTT = 0.04  # seconds, of the empty path
_WINDOW = 2 * _RTT  # over which a rate is a rate
_BEFORE = 1.0  # the same before a download begins
_SHARE = 0.2  # of the link; so little is what has given way
_STARTS = 5


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("count", "most"), [(1, 12), (8, 15)])
def test_giving_way_takes_few_round_trips(count: int, most: float, capsys: pytest.CaptureFixture[str]) -> None:
    """From the download's first segment to where the uploads have a fifth of the link: a median of five starts.

    The download needs four round trips to fill the path from its ten segments: nobody could see it sooner. Seen: a
    median of 8.5 beside one upload and of 11.5 beside eight, single starts up to 24.
    """

    def measure(day: Day) -> list[float]:
        with Capture(day.b) as seen, day.uploads(count, "netnice"):
            for _ in range(_STARTS):
                time.sleep(5)  # the path is theirs again
                with day.download() as download:
                    time.sleep(3)
                    download.signal(signal.SIGKILL)
        arriving = [packet for packet in seen.packets if packet.payload > 0 and not packet.leaves]
        uploads = [packet for packet in arriving if packet.port == day.store.port]
        begins = _first_segments([packet for packet in arriving if packet.source_port == day.web.port])
        assert len(begins) == _STARTS
        before = [_rate(uploads, begin, _BEFORE) for begin in begins]
        assert min(before) > 0.6 * RATE_BPS, f"the path was not theirs before: {before}"
        return [_given_way(uploads, begin) for begin in begins]

    times = on_a_path(measure)
    trips = [one / _RTT for one in times]
    median = statistics.median(trips)
    say(capsys, f"{count} uploads give way in {median:.1f} round trips ({', '.join(f'{one:.1f}' for one in trips)})")
    assert median <= most
    assert max(trips) < math.inf


def _first_segments(packets: Sequence[Packet]) -> list[float]:
    """When each connection's first segment with data arrived."""
    first: dict[int, float] = {}
    for packet in packets:
        first.setdefault(packet.port, packet.seconds)
    return sorted(first.values())


def _rate(packets: Sequence[Packet], end: float, window: float = _WINDOW) -> float:
    """Bits a second of payload in the window that ends there."""
    return 8 * sum(packet.payload for packet in packets if end - window < packet.seconds <= end) / window


def _given_way(uploads: Sequence[Packet], begin: float) -> float:
    """Seconds until a window has so little of the uploads; infinity if none has within three seconds."""
    near = [packet for packet in uploads if begin - _WINDOW < packet.seconds < begin + 3]
    steps = (begin + _WINDOW + step * _RTT / 4 for step in range(int(3 / (_RTT / 4))))
    return next((end - begin for end in steps if _rate(near, end) <= _SHARE * RATE_BPS), math.inf)
