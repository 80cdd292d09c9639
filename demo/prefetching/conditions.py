# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The figure's conditions; README.md beside this says why each."""

from __future__ import annotations

from dataclasses import dataclass

FOREGROUND = "reno"


@dataclass(frozen=True)
class Link:
    """What is between the server and both hosts."""

    key: str
    title: str
    rate_bps: int
    rtt_ms: int
    queue: str
    seconds: float
    """Measured; on a slow link less is demanded in a second."""


@dataclass(frozen=True)
class Arm:
    """How eagerly is prefetched, and on which congestion control; both empty for none."""

    preset: str = ""
    congestion_control: str = ""

    @property
    def key(self) -> str:
        return f"{self.preset}-{self.congestion_control}" if self.preset else "none"


@dataclass(frozen=True)
class Conditions:
    """All that is the same in every run."""

    hosts: int = 2
    clients_per_host: int = 8
    pages: int = 200
    learned_visits: int = 4000
    played_visits: int = 400
    think: str = "3s"
    hints: int = 100
    warmup_s: float = 20.0


PRESETS = ("conservative", "aggressive")
CONGESTION_CONTROLS = ("reno", "cubic", "nice", "netnice")
LINKS = (
    Link("cable", "cable modem: 5 Mbit/s, 30 ms", 5_000_000, 30, "60kB", 60),
    Link("modem", "modem: 56 kbit/s, 150 ms", 56_000, 150, "15kB", 110),
)
ARMS = (Arm(), *(Arm(preset, name) for preset in PRESETS for name in CONGESTION_CONTROLS))
