# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The numbers of one flow beside flows of a lower priority, of a newcomer, and of flows of one level."""

from dataclasses import dataclass

import numpy as np

from netnice_lab.measures.over_time import acknowledged, goodput, latency
from netnice_lab.model.measure import Sampled

HELD = 0.9
"""Part of the link's payload that a newcomer has to have."""
HOLDS = 50
"""Round trips for which it has to have it."""


def end_of(sampled: Sampled) -> float:
    """The last sample's time, seconds: the end itself is not sampled."""
    return min(sampled.end, float(sampled.flow.us.max()) / 1e6)


@dataclass(frozen=True)
class Beside:
    """The upper flow and how full the link is: from the lower flows' start on, and settled. Seconds and Mbit/s."""

    start: float
    settled: float
    capacity: float

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Goodput and latency of the upper flow, part of the capacity used."""
        flow, groups = sampled.flow, sampled.groups
        everyone = [number for numbers in groups.values() for number in numbers]
        found: dict[str, float] = {}
        for suffix, begin, until in (("", self.settled, end_of(sampled)), ("_start", self.start, self.settled)):
            found |= {
                f"upper{suffix}": goodput(flow, groups["upper"], begin, until),
                f"upper_latency{suffix}": latency(flow, groups["upper"], begin, until),
                f"filled{suffix}": goodput(flow, everyone, begin, until) / self.capacity,
            }
        return found


@dataclass(frozen=True)
class Arrival:
    """How soon a newcomer that starts at `begin` holds its part of the link. Seconds and Mbit/s."""

    begin: float
    rtt: float
    capacity: float

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Round trips, counted from the newcomer's start; at most until the end."""
        flow, newcomer, end = sampled.flow, sampled.groups["newcomer"], end_of(sampled)
        rows = flow[flow.id.isin(newcomer) & (flow.acked > 0)]
        begin = max(self.begin, float(rows.us.min()) / 1e6 - self.rtt) if len(rows) else self.begin
        times = np.arange(begin, end - HOLDS * self.rtt, self.rtt)
        had = acknowledged(flow, newcomer, times + HOLDS * self.rtt) - acknowledged(flow, newcomer, times)
        holds = had * 8e-6 >= HELD * self.capacity * HOLDS * self.rtt
        return {"held": float(np.argmax(holds)) if holds.any() else float(round((end - begin) / self.rtt))}


@dataclass(frozen=True)
class Together:
    """Flows of one level among themselves in the seconds before they have settled."""

    start: float
    settled: float

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Goodput and Jain's index."""
        rates = np.array(
            [goodput(sampled.flow, [one], self.start, self.settled) for one in sampled.groups["background"]]
        )
        squares = len(rates) * float((rates**2).sum())
        return {
            "background_start": float(rates.sum()),
            "background_fairness_start": float(rates.sum()) ** 2 / squares if squares else 0.0,
        }
