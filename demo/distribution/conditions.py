# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The distribution's conditions; README.md of the demo says why each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Link:
    """What lies between a replication server and a client."""

    rate_bps: int
    rtt_ms: int
    #: What the client fetches the file with: curl from nginx as it arrives there, rsync from the server's copy of it.
    client: Literal["curl", "rsync"] = "curl"


@dataclass(frozen=True)
class Setting:
    """How the file is sent: ``limit_bps`` throttles every client alike, ``share`` each to that much of its own link.

    ``by`` is who sees to it: the client, ``curl --limit-rate`` or ``rsync --bwlimit``, or the server, nginx's
    ``limit_rate`` or the rsync daemon's ``--bwlimit``.
    """

    key: str
    title: str
    kind: Literal["plain", "netnice"] = "plain"
    limit_bps: int = 0
    share: float = 0.0
    by: Literal["client", "server"] = "client"

    def limit(self, link: Link) -> int:
        """Bits per second that a client on that link is throttled to; 0: not at all."""
        return int(self.share * link.rate_bps) if self.share else self.limit_bps


LIMITS = tuple(
    Setting(f"{mbit}m", f"CUBIC, each at most {mbit} Mbit/s", limit_bps=mbit * 1_000_000) for mbit in (1, 2, 4, 8, 16)
)
SHARES = tuple(
    Setting(f"{percent}%", f"CUBIC, each at most {percent} % of its own link", share=percent / 100)
    for percent in (70, 90)
)
SERVERS = tuple(
    Setting(
        f"{percent}%server",
        f"CUBIC, each at most {percent} % of its own link, by the server",
        share=percent / 100,
        by="server",
    )
    for percent in (70, 90)
)
SCENARIOS = (
    Setting("netnice", "netnice, no throttle", kind="netnice"),
    Setting("cubic", "CUBIC, no throttle"),
    *LIMITS,
    *SHARES,
    *SERVERS,
)


@dataclass(frozen=True)
class Conditions:
    """All that is the same with every setting."""

    #: One tuple a replication server.
    links: tuple[tuple[Link, ...], ...] = (
        (Link(1_000_000, 60), Link(4_000_000, 30, "rsync"), Link(8_000_000, 30), Link(25_000_000, 20)),
        (Link(1_500_000, 50), Link(2_000_000, 40, "rsync"), Link(16_000_000, 20), Link(50_000_000, 10)),
    )
    trunk: Link = Link(100_000_000, 20)
    buffer_ms: int = 300
    file_bytes: int = 3_000_000
    ping_every_s: float = 0.1
    #: A client that has not got the file by then fails the run.
    patience_s: float = 120.0

    def queue_bytes(self, link: Link) -> int:
        """A drop-tail buffer of so long a time at this rate."""
        return link.rate_bps * self.buffer_ms // 8000

    def least_s(self, link: Link) -> float:
        """The file's own bits at the link's rate: no transfer is shorter."""
        return self.file_bytes * 8 / link.rate_bps
