# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Flows of one priority beside many of a lower one: TCP Nicer's experiments, and the same at today's rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netnice_lab.judgement import misses
from netnice_lab.measures.over_time import acknowledged, goodput, latency
from netnice_lab.model.experiment import Bar, Cell, Value
from netnice_lab.model.output import Sampled
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import ETHERNET, Queue, Topology, dumbbell
from netnice_lab.model.traffic import Bulk

if TYPE_CHECKING:
    import pandas as pd

LEVELS = {
    "nicer": ("reno", "nicer0", "nicer1", "nicer2"),
    "netnice": ("reno", "netnice", "netnice1", "netnice2"),
}
"""The four priorities, highest first: Table I of the paper, and our own preset."""
PACKET, ROUND_TRIP, PAPER_RATE, PAPER_BUFFER = 512, 80_000, 0.3, 8.5
"""The paper's packets (bytes), twice its latency of 40 ms (us), its rate (Mbit/s), its queue of 50 packets (BDP)."""
RATES = (PAPER_RATE, 10.0, 100.0, 1000.0)
BUFFERS = (0.5, 1.0, 2.0, 4.0, PAPER_BUFFER)
HEADERS = 52
"""Bytes of a packet that are not payload: IP, TCP and its timestamps."""
LARGE = (("ipv4/tcp_rmem", "4096 4194304 16777216"), ("ipv4/tcp_wmem", "4096 262144 16777216"))
"""Room for the window of a fast link from the start: the lab measures congestion control, not buffer tuning."""
TIMES = {0.3: (150.0, 50.0, 60.0), 10.0: (45.0, 12.0, 20.0), 100.0: (24.0, 7.0, 13.0), 1000.0: (13.0, 4.0, 9.0)}
"""Seconds of a run, when the lower flows begin to start, when they count as settled; by rate in Mbit/s."""
GAPS = {0.3: 50.0, 10.0: 30.0, 100.0: 20.0, 1000.0: 8.0}
"""Seconds between the starts of figure 7, by rate in Mbit/s."""


def exists(cell: Cell) -> bool:
    """The paper's rate has the paper's buffer, every other rate has those of today."""
    return (cell["rate"] == PAPER_RATE) == (cell["buffer"] == PAPER_BUFFER)


def round_trip(rate: float) -> int:
    """Microseconds without a queue."""
    if rate == PAPER_RATE:
        return ROUND_TRIP
    return 40_000 if rate <= 10 else 20_000


def payload(rate: float) -> float:
    """Mbit/s of payload that a link of a rate carries: at 0.3 Mbit/s headers are an eighth of it."""
    mtu = PACKET if rate == PAPER_RATE else 1500
    return rate * (mtu - HEADERS) / (mtu + ETHERNET)


def link(rate: float, buffer: float) -> tuple[Topology, tuple[tuple[str, str], ...]]:
    """The paper's link for its rate (50 packets), else 1500-byte packets and a buffer in BDP; the hosts' sysctls."""
    rtt = round_trip(rate)
    if rate == PAPER_RATE:
        queue, mtu = Queue("fifo", packets=50), PACKET
    else:
        queue, mtu = Queue("fifo", bytes=max(6000, int(buffer * rate * rtt / 8))), 1500
    return dumbbell(int(rate * 1e6), rtt, queue, mtu=mtu), LARGE if rate >= 100 else ()


HELD = 0.9
"""Part of the link's payload that a newcomer has to have."""
HOLDS = 50
"""Round trips for which it has to have it."""


SPIKE = 0.5
"""Part of the mean goodput below which a second is a spike downward."""


def end_of(sampled: Sampled) -> float:
    """The last sample's time, seconds: the end itself is not sampled."""
    return min(sampled.end, float(sampled.flow.us.max()) / 1e6)


def seconds(flow: pd.DataFrame, numbers: Sequence[int], begin: float, end: float) -> np.ndarray:
    """A group's goodput in each whole second between two times, Mbit/s."""
    return np.diff(acknowledged(flow, numbers, np.arange(begin, end + 1e-6, 1.0))) * 8e-6


def steadiness(goodputs: np.ndarray) -> dict[str, float]:
    """How a goodput varies from second to second, and how often it falls below a part of its mean."""
    mean = float(goodputs.mean())
    low = goodputs < SPIKE * mean
    return {
        "upper_spread": float(goodputs.std()) / mean if mean else 0.0,
        "upper_spikes": float(np.count_nonzero(low & ~np.append(False, low[:-1]))),
    }


@dataclass(frozen=True)
class Beside:
    """The upper flow and how full the link is: from the lower flows' start on, and settled. Seconds and Mbit/s."""

    start: float
    settled: float
    capacity: float

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Goodput and latency of the upper flow, how steady it is, part of the capacity used."""
        flow, groups, end = sampled.flow, sampled.groups, end_of(sampled)
        everyone = [number for numbers in groups.values() for number in numbers]
        found: dict[str, float] = {}
        for suffix, begin, until in (("", self.settled, end), ("_start", self.start, self.settled)):
            found |= {
                f"upper{suffix}": goodput(flow, groups["upper"], begin, until),
                f"upper_latency{suffix}": latency(flow, groups["upper"], begin, until),
                f"filled{suffix}": goodput(flow, everyone, begin, until) / self.capacity,
            }
        found |= steadiness(seconds(flow, groups["upper"], self.settled, end))
        of_seconds = [latency(flow, groups["upper"], at, at + 1) for at in np.arange(self.start, self.settled)]
        found["upper_latency_peak"] = float(np.nanmax(of_seconds))
        if lower := goodput(flow, groups.get("lower", []), self.settled, end):
            found["ahead"] = found["upper"] / lower
        return found


@dataclass(frozen=True)
class Arrival:
    """How soon a newcomer that starts at `begin` holds its part of the link. Seconds and Mbit/s."""

    begin: float
    rtt: float
    capacity: float

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Round trips, counted from the newcomer's start; at most until the end. `ahead`: in the time's second half."""
        flow, newcomer, end = sampled.flow, sampled.groups["newcomer"], end_of(sampled)
        rows = flow[flow.id.isin(newcomer) & (flow.acked > 0)]
        begin = max(self.begin, float(rows.us.min()) / 1e6 - self.rtt) if len(rows) else self.begin
        times = np.arange(begin, end - HOLDS * self.rtt, self.rtt)
        had = acknowledged(flow, newcomer, times + HOLDS * self.rtt) - acknowledged(flow, newcomer, times)
        holds = had * 8e-6 >= HELD * self.capacity * HOLDS * self.rtt
        found = {"held": float(np.argmax(holds)) if holds.any() else float(round((end - begin) / self.rtt))}
        others, half = sorted({*flow.id} - {*newcomer}), (self.begin + end) / 2
        if older := goodput(flow, others, half, end):
            found["ahead"] = goodput(flow, newcomer, half, end) / older
        return found


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


def beside(
    upper: str,
    lower: str,
    flows: int,
    seed: int,
    rate: float = PAPER_RATE,
    buffer: float = PAPER_BUFFER,
    upper_first: bool = True,
) -> Scenario:
    """One flow of a congestion control, later `flows` of a lower one; or the other way round."""
    topology, sysctls = link(rate, buffer)
    duration, start, settled = TIMES[rate]
    first, second = (0.1, 0.2), (start, start + min(2.0, start / 4))
    traffic = [Bulk("www", "home", 1, upper, start=first if upper_first else (start, start + 0.1), group="upper")]
    if flows:
        starts = second if upper_first else (0.1, second[1] - start)
        traffic.append(Bulk("bulk", "home", flows, lower, start=starts, group="lower"))
    return Scenario(
        topology, tuple(traffic), duration, settled, seed, sysctls=sysctls, sample=0.1,
        measure=Beside(start, settled, payload(rate)),
    )  # fmt: skip


def kept(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Beside every run with lower flows, what the upper flow has as a part of what it has alone."""
    alone = frame[frame.flows == 0].drop(columns="flows")
    both = frame[frame.flows > 0].merge(alone, on=[*keys, "seed"], suffixes=("", "_alone"))
    for suffix in ("", "_start"):
        both[f"kept{suffix}"] = both[f"upper{suffix}"] / both[f"upper{suffix}_alone"]
        both[f"latency{suffix}"] = both[f"upper_latency{suffix}"] / both[f"upper_latency{suffix}_alone"]
    return both


def together(level: str, flows: int, seed: int, rate: float, buffer: float = 1.0) -> Scenario:
    """Flows of one priority among themselves: at first, and in the last two thirds of the run."""
    topology, sysctls = link(rate, buffer)
    duration, settled = {10.0: (90.0, 30.0), 100.0: (45.0, 15.0)}.get(rate, (150.0, 50.0))
    flow = Bulk("www", "home", flows, level, start=(0.1, 1.0), group="background")
    return Scenario(
        topology, (flow,), duration, settled, seed, sysctls=sysctls, sample=0.25, measure=Together(2.0, settled)
    )


def arriving(newcomer: str, older: tuple[str, ...], seed: int, rate: float = PAPER_RATE, flows: int = 1) -> Scenario:
    """Figure 7: the lowest first, the next when it has settled, and so on; the newcomer is the last.

    One flow of each, or `flows` of each of the older.
    """
    topology, sysctls = link(rate, 1.0)
    gap, rtt = GAPS[rate], round_trip(rate) / 1e6
    names = (*older, newcomer)
    groups = (*(f"{name} before" for name in older), "newcomer")
    traffic = tuple(
        Bulk("www", "home", 1 if group == "newcomer" else flows, name, start=(gap * i, gap * i + gap / 50), group=group)
        for i, (name, group) in enumerate(zip(names, groups, strict=True))
    )
    begin = gap * len(older)
    # measured from the latest moment at which it can start
    return Scenario(
        topology, traffic, begin + gap, begin + gap / 50 + 20 * rtt, seed, sysctls=sysctls, sample=rtt,
        measure=Arrival(begin, rtt, payload(rate)),
    )  # fmt: skip


MEASURES = (
    ("goodput", "upper", 0.95, None, True),
    ("latency", "upper_latency", None, 1.05, True),
    ("sum", "filled", 0.90, None, False),
)
"""The issue's bars: name, metric, least, most; is it held against the upper flow alone?"""


def bars(table: dict[str, str], name: str, cell: Mapping[str, Value]) -> list[Bar]:
    """The three bars of a cell, named MEASURE NAME."""
    return [
        misses.bar(table, f"{says} {name}", metric, cell, {**cell, "flows": 0} if of_alone else None, least, most)
        for says, metric, least, most, of_alone in MEASURES
    ]
