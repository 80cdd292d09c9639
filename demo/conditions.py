# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The demo's conditions, fixed before the algorithm was tuned; README.md beside this says why each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["none", "plain", "netnice", "marked"]


@dataclass(frozen=True)
class Scenario:
    """One kind of background; its title is about {transfers}."""

    key: str
    title: str
    kind: Kind
    priority: bool = False


SCENARIOS = (
    Scenario("nothing", "nothing", "none"),
    Scenario("cubic", "plain {transfers} (CUBIC)", "plain"),
    Scenario("netnice", "netnice {transfers}", "netnice"),
    Scenario("priority", "ideal: priority queue", "marked", priority=True),
)


@dataclass(frozen=True)
class Conditions:
    """All that is the same in every scenario."""

    rate_bps: int = 10_000_000
    rtt_ms: int = 40
    queue: str = "1bdp"
    clients: int = 12
    load_bps: int = 5_000_000
    alpha: float = 1.2
    smallest: int = 4096
    largest: int = 1 << 20
    uploads: int = 16
    downloads: int = 0
    files_per_upload: int = 4
    warmup_s: float = 6.0
    seconds: float = 32.0
    grace_s: float = 2.5
    seed: int = 3
    sample_s: float = 0.25

    @property
    def transfers(self) -> str:
        """What the background is: downloads if there are any, else uploads."""
        return "downloads" if self.downloads else "uploads"

    @property
    def transfers_at_a_time(self) -> int:
        """How many of them."""
        return self.downloads or self.uploads

    @property
    def file_bytes(self) -> int:
        """Size of each uploaded file: one upload alone on the link could not finish them."""
        lasts = self.warmup_s + self.seconds + self.grace_s + 10
        return int(self.rate_bps / 8 * lasts / self.files_per_upload)
