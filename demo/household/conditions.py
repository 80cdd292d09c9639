# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The household's conditions; README.md of the demo says why each."""

from __future__ import annotations

from dataclasses import dataclass

from demo import conditions as documents


@dataclass(frozen=True)
class Load:
    """What goes on in the background."""

    key: str
    title: str
    uploads: int
    downloads: int


LOADS = (
    Load("up", "2 backups up", 2, 0),
    Load("down1", "1 download", 0, 1),
    Load("down4", "4 downloads", 0, 4),
    Load("down16", "16 downloads", 0, 16),
    Load("both", "2 backups up, 4 downloads", 2, 4),
)


@dataclass(frozen=True)
class Conditions:
    """All that is the same in every run."""

    up_bps: int = 10_000_000
    down_bps: int = 50_000_000
    rtt_ms: int = 20
    buffer_ms: int = 500
    warmup_s: float = 6.0
    seconds: float = 30.0
    seed: int = 1
    #: A call: 160 bytes of sound and 12 of RTP's header, 50 times a second, each way.
    call_per_s: int = 50
    call_bytes: int = 172
    #: A page: one document, then what it needs, six at a time.
    page: tuple[int, ...] = (40_000, *(20_000, 60_000, 110_000) * 4)
    page_every_s: float = 3.0
    #: A video: four seconds a segment, the rates of a common ladder, and at most three segments ahead.
    segment_s: float = 4.0
    ladder_bps: tuple[int, ...] = (1_000_000, 2_500_000, 5_000_000, 8_000_000)
    ahead_s: float = 12.0

    def queue_bytes(self, bps: int) -> int:
        """A drop-tail buffer of so long a time at this rate."""
        return bps * self.buffer_ms // 8000

    def transfers(self, load: Load) -> documents.Conditions:
        """The demo's conditions of those transfers: enough bytes to outlast the run."""
        return documents.Conditions(
            rate_bps=self.up_bps,
            uploads=load.uploads,
            downloads=load.downloads,
            warmup_s=self.warmup_s,
            seconds=self.seconds,
        )
