# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The torrent's conditions; README.md of the demo says why each."""

from __future__ import annotations

from dataclasses import dataclass

from demo.conditions import Scenario


@dataclass(frozen=True)
class Load:
    """What the client at home does."""

    key: str
    title: str
    #: Which way the data goes on the path, as its trace has it.
    direction: str
    up_bps: int = 10_000_000
    down_bps: int = 10_000_000
    rtt_ms: int = 20
    buffer_ms: int = 500

    @property
    def rate_bps(self) -> int:
        """What the torrent goes through."""
        return self.up_bps if self.direction == "up" else self.down_bps

    @property
    def counted(self) -> str:
        """The client's own count of it."""
        return "uploadedEver" if self.direction == "up" else "downloadedEver"

    def queue_bytes(self, bps: int) -> int:
        """A drop-tail buffer of so long a time."""
        return bps * self.buffer_ms // 8000


LOADS = (
    Load("seed", "seeds", "up"),
    Load("leech", "fetches", "down"),
    #: The line of lbe-fig6 in the lab.
    Load("adsl", "seeds by ADSL", "up", up_bps=1_000_000, down_bps=8_000_000, rtt_ms=50, buffer_ms=1000),
)

SCENARIOS = (
    Scenario("nothing", "nothing", "none"),
    Scenario("cubic", "plain TCP (CUBIC)", "plain"),
    Scenario("utp", "its own uTP", "plain"),
    Scenario("netnice", "TCP under netnice", "netnice"),
    Scenario("priority", "ideal: priority queue", "marked", priority=True),
)


@dataclass(frozen=True)
class Conditions:
    """All that is the same in every run."""

    peers: int = 4
    #: Clients look every ten seconds whom to send to, and plain TCP then needs ten to fill half a second of buffer.
    warmup_s: float = 24.0
    seconds: float = 32.0
    seed: int = 1
    #: A page: one document, then what it needs, six at a time.
    page: tuple[int, ...] = (30_000, *(20_000, 45_000, 70_000) * 2)
    page_every_s: float = 2.0
    sample_ms: int = 20

    def torrent_bytes(self, load: Load) -> int:
        """More than the link carries in a run."""
        return int(load.rate_bps / 8 * (self.warmup_s + self.seconds + 15))
