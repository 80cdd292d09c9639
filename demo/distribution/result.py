# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What one setting gave, and the comparison of two."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_REPLY = re.compile(r"^\[(\d+\.\d+)\].* time=([\d.]+) ms$", re.MULTILINE)


@dataclass(frozen=True)
class Client:
    """One client: its link, when it had the file, and its pings' latencies until then."""

    rate_bps: int
    rtt_ms: int
    least_s: float
    took_s: float
    ping_ms: list[float]

    @property
    def times(self) -> float:
        """The completion time as a multiple of the least that the link allows."""
        return self.took_s / self.least_s

    @property
    def waited_ms(self) -> float:
        """The mean latency of a ping during the transfer."""
        return statistics.fmean(self.ping_ms)


@dataclass(frozen=True)
class Result:
    """All clients of one setting."""

    key: str
    title: str
    clients: list[Client]
    path_trusted: bool
    path_reasons: list[str]

    @property
    def ping_ms(self) -> float:
        """Ping latency during the transfers, every client alike."""
        return statistics.fmean(one.waited_ms for one in self.clients)

    @property
    def times(self) -> float:
        """Completion time, every client alike: in multiples of the least that its link allows."""
        return statistics.fmean(one.times for one in self.clients)

    @property
    def last_s(self) -> float:
        """When everybody had the file."""
        return max(one.took_s for one in self.clients)

    def beats(self, other: Result, by: float = 0.05) -> bool:
        """Whether it is better both in latency and in completion time, by more than a share ``by``."""
        return self.ping_ms < (1 - by) * other.ping_ms and self.times < (1 - by) * other.times


def better(results: Sequence[Result]) -> list[Result]:
    """The throttle settings that beat netnice; none should."""
    return [one for ours in results if ours.key == "netnice" for one in results if one.beats(ours)]


def pings(said: str, begin: float, end: float) -> list[float]:
    """Latencies of the replies that ``ping -D`` told of between two moments of the clock."""
    return [float(ms) for moment, ms in _REPLY.findall(said) if begin <= float(moment) <= end]
