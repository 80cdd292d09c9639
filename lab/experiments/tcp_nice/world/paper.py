# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice's network, section 4.1: a few numbers turned into a scenario."""

from dataclasses import replace
from functools import cache

from netnice_lab.model.background import background, finish
from netnice_lab.model.foreground import DRAIN, Browsing
from netnice_lab.model.protocols import Protocol, protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk, Document, Documents, OnOff, Traffic

PACKET = 512
"""Bytes of the paper's packets, IP header included."""
ROUND_TRIP = 100_000
"""Microseconds: a propagation delay of 50 ms each way."""
DEMAND = 2_000_000
"""Bit/s that the foreground asks for on average. The paper states only the ratio of capacity to demand; but it says
that a window floor of 1 doubles the latency at 64 flows, which happens here at about 2 Mbit/s (experiment demand)."""
NATURAL_DEMAND = 800_000
"""Bit/s of the generator's twelve clients with their default thinking times."""
PAPER_DURATION, PAPER_WARM_UP = 80.0, 12.0
Habits = tuple[tuple[str, float], ...]
BASELINES = (
    "priority", "reno", "cubic", "bbr", "vegas-1-3", "vegas-0-0", "lp", "nice-0.1", "nice-0.2", "netnice",
)  # fmt: skip
PAPER_DIFFERS = (
    "A generated foreground instead of the Squid trace (lab/README.md states it); mean demand 2 Mbit/s; Linux 6.12's "
    "TCP (SACK, delayed ACKs, first window of two for documents) instead of ns-2's; 68 measured seconds a run."
)
RED_DIFFERS = (
    " Linux's RED has no gentle mode: with ECN it marks every packet above the upper threshold. Priority is shown with "
    "its drop-tail bands."
)


def paper(
    name: str | Protocol,
    spare: float = 1.0,
    flows: int = 16,
    seed: int = 1,
    red: bool = False,
    udp: bool = False,
    duration: float = PAPER_DURATION,
    buffer: float = 1.0,
    demand: int = DEMAND,
    rtt: int = ROUND_TRIP,
    quick_acks: bool = False,
    first_window: int = 2,
    persistent: bool = False,
    browsing: Habits = (),
) -> Scenario:
    """Section 4.1: 512-byte packets, 50 ms, drop-tail of one BDP, capacity (1 + S) times the mean demand.

    What comes after `demand` are conditions that the paper leaves open: nice-share varies them.
    """
    chosen = protocol(name) if isinstance(name, str) else name
    capacity = int((1 + spare) * demand)
    packets = max(4, round(buffer * capacity * rtt / 1e6 / 8 / PACKET))
    if chosen.priority:
        queue = Queue("priority", packets=packets)
    elif red:
        queue = Queue("red", packets=packets, average_packet=PACKET, ecn=True)
    else:
        queue = Queue("fifo", packets=packets)
    topology = dumbbell(
        capacity, rtt, queue, mtu=PACKET, foreground_window=first_window, ecn=red, quick_acks=quick_acks
    )
    foreground: Traffic
    if udp:
        # 12 sources, each ON half the time
        foreground = OnOff("www", "home", 12, 2 * demand // 12, packet=PACKET)
    else:
        asked = duration - DRAIN
        documents = paper_documents(demand, asked, seed, browsing)
        foreground = Documents("www", "home", documents, "reno", persistent=persistent, from_log=asked)
    traffic = (foreground, *background(chosen, flows, capacity - demand))
    return finish(Scenario(topology, traffic, duration, PAPER_WARM_UP, seed), chosen)


@cache
def paper_documents(demand: int, duration: float, seed: int, browsing: Habits = ()) -> tuple[Document, ...]:
    """The generated foreground, drawn once for all protocols. `browsing`: fields of Browsing that are not as usual."""
    pace = NATURAL_DEMAND / demand  # more demand is more documents, not larger ones
    usual = Browsing(demand, think=3.0 * pace, gap=0.2 * pace)
    return replace(usual, **dict(browsing)).documents(duration, seed)


def long_flows(reno: int, nice: int, buffer: int, threshold: int, seed: int) -> Scenario:
    """Theorem 1's traffic: long Reno flows and long Nice flows on 4 Mbit/s, 100 ms, a buffer in packets."""
    chosen = protocol("nice").with_threshold(threshold)
    topology = dumbbell(4_000_000, ROUND_TRIP, Queue("fifo", packets=buffer), mtu=PACKET)
    foreground = Bulk("www", "home", reno, "reno", start=(0.0, 3.0), group="foreground")
    traffic = (foreground, *background(chosen, nice, 0))
    if not nice:
        return Scenario(topology, traffic, PAPER_DURATION, PAPER_WARM_UP, seed)
    return finish(Scenario(topology, traffic, PAPER_DURATION, PAPER_WARM_UP, seed), chosen)
