# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A video that adapts its rate: ``python -m demo.household.video HOST PORT FILE``.

As players do by default: the next segment has the highest rate below four fifths of what the last ones came with, it is
asked for while less than so many seconds are ahead, and what is ahead plays on meanwhile. When nothing is ahead, the
video stalls.
"""

from __future__ import annotations

import argparse
import http.client
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

_CAUTION = 0.8
_NEWEST = 0.5
_TIMEOUT_S = 30.0


@dataclass
class Playback:
    """What is ahead of the viewer, and how long they waited."""

    ahead_s: float = 0.0
    stalled_s: float = 0.0
    stalls: int = 0
    playing: bool = False
    rates: list[int] = field(default_factory=list)

    def pass_time(self, seconds: float, *, counts: bool) -> None:
        """Plays for so long, as far as there is something to play."""
        if not self.playing:
            return
        missing = seconds - self.ahead_s
        self.ahead_s = max(self.ahead_s - seconds, 0.0)
        if missing > 0 and counts:
            self.stalled_s += missing
            self.stalls += 1

    def add(self, seconds: float, rate_bps: int, *, counts: bool) -> None:
        """A segment came."""
        self.ahead_s += seconds
        self.playing = True
        if counts:
            self.rates.append(rate_bps)


def choose(ladder: Sequence[int], seen_bps: float) -> int:
    """The highest rate that leaves a margin, or the lowest there is."""
    return max((rate for rate in ladder if rate <= seen_bps * _CAUTION), default=min(ladder))


def watch(
    host: str,
    port: int,
    file: str,
    *,
    seconds: float,
    warmup: float,
    segment_s: float,
    ahead_s: float,
    ladder: list[int],
) -> dict[str, object]:
    """Stalls and rates of the time after ``warmup``."""
    playback = Playback()
    begin = last = time.monotonic()
    seen_bps = 0.0
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    while last < begin + warmup + seconds:
        counts = last >= begin + warmup
        full = playback.ahead_s + segment_s - ahead_s
        rate = choose(ladder, seen_bps)
        if full > 0:
            time.sleep(full)
        else:
            got_bps = fetch(connection, file, int(rate * segment_s / 8))
            seen_bps = got_bps if not seen_bps else seen_bps + (got_bps - seen_bps) * _NEWEST
        now = time.monotonic()
        playback.pass_time(now - last, counts=counts)
        last = now
        if full <= 0:
            playback.add(segment_s, rate, counts=counts)
    connection.close()
    mean = sum(playback.rates) / len(playback.rates) if playback.rates else 0.0
    return {"stalled_s": round(playback.stalled_s, 3), "stalls": playback.stalls, "rate_bps": round(mean)}


def fetch(connection: http.client.HTTPConnection, file: str, size: int) -> float:
    """Gets so many bytes; returns how many bits came a second."""
    asked = time.monotonic()
    connection.request("GET", f"/{file}", headers={"Range": f"bytes=0-{size - 1}"})
    read = len(connection.getresponse().read())
    return read * 8 / (time.monotonic() - asked)


def main() -> None:
    """Watches, and prints how it was."""
    parser = argparse.ArgumentParser(prog="python -m demo.household.video", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("file")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--warmup", type=float, default=0.0)
    parser.add_argument("--segment", dest="segment_s", type=float, default=4.0)
    parser.add_argument("--ahead", dest="ahead_s", type=float, default=12.0)
    parser.add_argument("--ladder", type=int, nargs="+", required=True)
    print(json.dumps(watch(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
