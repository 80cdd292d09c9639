# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, section 4: its network of section 4.1, figures 2 to 7, and the results that it gives without a graph."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from netnice_lab.judgement.misses import EDGE
from netnice_lab.model.background import background, finish
from netnice_lab.model.experiment import Bar, Experiment, Figure, Value
from netnice_lab.model.foreground import DRAIN, Browsing
from netnice_lab.model.protocols import Protocol
from netnice_lab.model.protocols import protocol as named
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Document, Documents, OnOff, Traffic

EXPERIMENTS: dict[str, Experiment] = {}

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
    chosen = named(name) if isinstance(name, str) else name
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


WORSE = ("reno", "vegas-1-3", "vegas-0-0", "cubic", "lp")
RED_NICE = "nice-0.03"


def hurts_more(
    key: str, values: Sequence[Value], where: str, least: float, nice: str = "nice-0.1", worse: Sequence[str] = WORSE
) -> list[Bar]:
    """The latency beside others is more than beside Nice; `where` says at which value."""
    return [
        Bar(f"{name} hurts more than Nice{where.format(value)}", "latency", {"protocol": name, key: value},
            {"protocol": nice, key: value}, minimum=least)
        for name in worse for value in values
    ]  # fmt: skip


EXPERIMENTS["nice-fig2"] = Experiment(
    title="TCP Nice, figure 2: latency against spare capacity, 16 background flows",
    claim="Nice is hardly distinguishable from router prioritization whereas the other protocols cause a significant "
    "increase in foreground latency, in some cases by over an order of magnitude.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": BASELINES, "spare": (0.25, 0.5, 1.0, 2.0, 4.0)},
    scenario=lambda protocol, spare, seed: paper(protocol, spare=spare, seed=seed),
    figures=[
        Figure("spare", "latency", "protocol", "spare capacity S", "document latency, ms", True, True),
        Figure("spare", "background", "protocol", "spare capacity S", "background, Mbit/s", True, True),
    ],
    more_seeds=[({"protocol": "nice-0.1", "spare": spare}, 8) for spare in (0.25, 0.5)],  # it has so little there
    bars=hurts_more("spare", (0.5, 1.0, 2.0), " at S = {}", 1.05),
)

EXPERIMENTS["nice-fig3"] = Experiment(
    title="TCP Nice, figure 3: latency against the number of background flows, S = 1",
    claim="Even with 100 background Nice flows, the latency of foreground documents is hardly distinguishable from the "
    "ideal case when routers provide strict prioritization. Reno and Vegas background flows can cause foreground "
    "latencies to increase by orders of magnitude.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": BASELINES, "flows": (1, 4, 16, 64, 100)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed),
    figures=[Figure("flows", "latency", "protocol", "background flows", "document latency, ms", True, True)],
    quick={"protocol": ("priority", "nice-0.1", "netnice", "reno"), "flows": (1, 16, 64)},
    bars=hurts_more("flows", (16, 64, 100), ", {} flows", 1.3),
)

ONE_FLOW = "a document comes every 40 ms, less than half a round trip: a lone flow yields too often to grow in between"
EXPERIMENTS["nice-fig4"] = Experiment(
    title="TCP Nice, figure 4: background throughput against the number of background flows, S = 1",
    claim="A single background flow reaps about half the spare bandwidth available under router prioritization; this "
    "improves with the number of flows but remains below router prioritization. Reno and Vegas go beyond the "
    "router prioritization line: they steal bandwidth from the foreground.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": BASELINES, "flows": (1, 4, 16, 64, 100)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed),
    figures=[Figure("flows", "background", "protocol", "background flows", "background, Mbit/s", True)],
    quick={"protocol": ("priority", "nice-0.1", "netnice", "reno"), "flows": (1, 16, 64)},
    bars=[
        Bar("one flow takes about half of what priority takes", "background", {"protocol": "nice-0.1", "flows": 1},
            {"protocol": "priority", "flows": 1}, minimum=0.40, holds=False, reason=ONE_FLOW),
        Bar("one flow at t = 0.2 takes about half of what priority takes", "background",
            {"protocol": "nice-0.2", "flows": 1}, {"protocol": "priority", "flows": 1}, minimum=0.40,
            holds=False, reason=ONE_FLOW),
        Bar("16 flows stay below priority", "background", {"protocol": "nice-0.1", "flows": 16},
            {"protocol": "priority", "flows": 16}, maximum=1.0),
        Bar("100 flows stay below priority", "background", {"protocol": "nice-0.1", "flows": 100},
            {"protocol": "priority", "flows": 100}, maximum=1.0),
    ],
)  # fmt: skip

THRESHOLDS = (1, 3, 5, 10, 20, 30, 50, 70, 90, 100)
EXPERIMENTS["nice-fig5"] = Experiment(
    title="TCP Nice, figure 5: latency against the threshold, 16 flows, S = 1",
    claim="As the threshold increases the interference caused by Nice increases until the protocol finally reverts to "
    "Vegas behaviour as the threshold approaches 1. There is a large range of threshold values yielding low "
    "interference.",
    differs=PAPER_DIFFERS + " Priority, Vegas and netnice are drawn as level lines: their threshold is not varied.",
    sweep={"protocol": ("priority", "vegas-1-3", "netnice", "nice"), "threshold": THRESHOLDS},
    scenario=lambda protocol, threshold, seed: paper(
        named(protocol).with_threshold(threshold) if protocol == "nice" else protocol, seed=seed
    ),
    figures=[
        Figure("threshold", "latency", "protocol", "threshold, percent", "document latency, ms", False, True),
        Figure("threshold", "background", "protocol", "threshold, percent", "background, Mbit/s"),
    ],
    more_seeds=[({"protocol": "nice", "threshold": t}, 12) for t in (10, 90)],  # two say it within .09
    quick={"protocol": ("nice",), "threshold": (10, 50)},
    bars=[
        Bar("a high threshold interferes more than a low one", "latency", {"protocol": "nice", "threshold": 90},
            {"protocol": "nice", "threshold": 10}, minimum=1.2),
        Bar("a wide range of thresholds is low", "latency", {"protocol": "nice", "threshold": 20},
            {"protocol": "nice", "threshold": 5}, maximum=1.2),
    ],
)  # fmt: skip

BY_RED = ("priority", "reno", "vegas-1-3", "vegas-0-0", "nice-0.1", RED_NICE, "netnice")
EXPERIMENTS["nice-fig6"] = Experiment(
    title="TCP Nice, figure 6: latency against spare capacity with RED and ECN, 16 flows",
    claim="Though Nice still performs as much as an order of magnitude better than other protocols, it causes up to a "
    "factor of 2 increase in document latencies for large spare capacities. Nice-0.03 causes less.",
    differs=PAPER_DIFFERS + RED_DIFFERS,
    sweep={"protocol": BY_RED, "spare": (0.25, 0.5, 1.0, 2.0, 4.0)},
    scenario=lambda protocol, spare, seed: paper(protocol, spare=spare, seed=seed, red=True),
    figures=[Figure("spare", "latency", "protocol", "spare capacity S", "document latency, ms", True, True)],
    bars=hurts_more("spare", (1.0, 2.0), ", spare = {}", 1.1, RED_NICE, WORSE[:3]),
)

EXPERIMENTS["nice-fig7"] = Experiment(
    title="TCP Nice, figure 7: latency against the number of background flows with RED and ECN, S = 1",
    claim="Under RED, Nice closely approximates router prioritization regardless of the number of flows when the spare "
    "capacity is one.",
    differs=PAPER_DIFFERS + RED_DIFFERS,
    sweep={"protocol": BY_RED, "flows": (1, 4, 16, 64, 100)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed, red=True),
    figures=[Figure("flows", "latency", "protocol", "background flows", "document latency, ms", True, True)],
    quick={"protocol": ("nice-0.1", "nice-0.03"), "flows": (16,)},
    bars=hurts_more("flows", (16, 64, 100), ", flows = {}", 1.1, RED_NICE, WORSE[:3]),
)

FLOOR = named("nice-0.1").with_parameters(min_window=4096)
EXPERIMENTS["demand"] = Experiment(
    title="Mean demand of the foreground from 0.4 to 6.4 Mbit/s, S = 1",
    claim="The paper states the ratio of capacity to mean demand, not the demand. It says that a window floor of 1 "
    "doubles the latency at 64 flows.",
    differs=PAPER_DIFFERS + " More demand is more documents of the same sizes by the same twelve clients.",
    sweep={
        "protocol": ("priority", "nice-0.1", "nice-0.2", "netnice", "nice-floor-1"),
        "demand": (400_000, 800_000, 1_600_000, 2_000_000, 3_200_000, 6_400_000),
        "flows": (16, 64),
    },
    scenario=lambda protocol, demand, flows, seed: paper(
        FLOOR if protocol == "nice-floor-1" else protocol, demand=demand, flows=flows, seed=seed
    ),
    seeds=1,
    figures=[
        Figure("demand", "latency", "protocol", "demand, bit/s", "document latency, ms", True, True, "flows"),
        Figure("demand", "background", "protocol", "demand, bit/s", "background, Mbit/s", True, True, "flows"),
    ],
)

FLOORS = {"1/48": 85, "1": 4096}
EXPERIMENTS["window-floor"] = Experiment(
    title="A window floor of 1 instead of 1/48: latency against the number of flows, S = 1",
    claim="When the number of background flows exceeds about 10, the latency of foreground flows begins to increase "
    "noticeably; the increase is about a factor of two when the number of background flows is 64.",
    differs=PAPER_DIFFERS + " The paper's factor of two was used to choose the mean demand: see the experiment demand.",
    sweep={"floor": tuple(FLOORS), "flows": (1, 4, 10, 16, 32, 64, 100)},
    scenario=lambda floor, flows, seed: paper(
        named("nice-0.1").with_parameters(min_window=FLOORS[floor]), flows=flows, seed=seed
    ),
    figures=[Figure("flows", "latency", "floor", "background flows", "document latency, ms", True, True)],
    quick={"floor": ("1/48",), "flows": (64,)},
    bars=[
        Bar("64 flows, floor of 1", "latency", {"floor": "1", "flows": 64}, {"floor": "1/48", "flows": 64},
            minimum=1.5),
        Bar("4 flows do not mind", "latency", {"floor": "1", "flows": 4}, {"floor": "1/48", "flows": 4}, maximum=1.2),
    ],
)  # fmt: skip

EXPERIMENTS["fraction"] = Experiment(
    title="The trigger fraction from 0.1 to 0.9: latency, 16 flows, S = 1",
    claim="We find little change in foreground latency as we vary this fraction from 0.1 to 0.9.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": ("nice-0.1",), "fraction": (10, 30, 50, 70, 90)},
    scenario=lambda protocol, fraction, seed: paper(named(protocol).with_parameters(fraction=fraction), seed=seed),
    figures=[Figure("fraction", "latency", "protocol", "fraction, percent", "document latency, ms")],
    quick={"fraction": (30,)},
    bars=[
        Bar("0.9 against 0.1", "latency", {"fraction": 90}, {"fraction": 10}, maximum=1.25),
    ],
)  # fmt: skip

EXPERIMENTS["pareto-udp"] = Experiment(
    title="ON/OFF Pareto UDP foreground: datagram delay and loss, S = 1",
    claim="Nice still causes lower interference than Reno or Vegas, but does not match router prioritization as "
    "closely. The utilization of spare capacity by Nice is also lower compared to the trace workload.",
    differs=PAPER_DIFFERS + " UDP has no documents: interference is the datagrams' delay and loss.",
    sweep={"protocol": ("none", *BASELINES), "flows": (1, 16)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed, udp=True),
    figures=[
        Figure("flows", "udp_delay", "protocol", "background flows", "datagram delay, ms", True),
        Figure("flows", "udp_loss", "protocol", "background flows", "datagrams lost, part of 1", True),
        Figure("flows", "background", "protocol", "background flows", "background, Mbit/s", True),
    ],
    pinned={"udp_delay": 0.05, "background": 0.10},
    bars=[
        Bar(f"{worse} delays more than Nice, 16 flows", "udp_delay", {"protocol": worse, "flows": 16},
            {"protocol": "nice-0.1", "flows": 16}, minimum=1.0)
        for worse in ("reno", "vegas-1-3", "cubic")
    ],
)  # fmt: skip

RATES = tuple(f"reno-at-{percent}" for percent in (25, 50, 75, 100, 125))
EXPERIMENTS["rate-limited"] = Experiment(
    title="Rate-limited Reno against Nice: latency and throughput, 16 flows, S = 1",
    claim="When the rate is tuned to approximate the spare capacity of the network, rate limiting performs well. Nice, "
    "however, outperforms rate limiting and does not require hand tuning.",
    differs=PAPER_DIFFERS + " The limit is TCP's own pacing at a part of the mean spare capacity, shared by the flows.",
    sweep={"protocol": ("priority", "nice-0.1", "nice-0.2", *RATES), "spare": (0.5, 1.0, 2.0)},
    scenario=lambda protocol, spare, seed: paper(protocol, spare=spare, seed=seed),
    figures=[
        Figure("background", "latency", "protocol", "background, Mbit/s", "document latency, ms", panel="spare"),
    ],
    more_seeds=[({"protocol": name, "spare": 0.5}, 8) for name in ("nice-0.1", "reno-at-25")],  # two runs say nothing
    bars=[
        Bar(f"a quarter of the spare: hardly less latency than Nice, S = {spare}", "latency",
            {"protocol": "reno-at-25", "spare": spare}, {"protocol": "nice-0.1", "spare": spare}, minimum=0.95)
        for spare in (0.5, 1.0, 2.0)
    ] + [
        Bar(f"a quarter of the spare: less throughput than Nice, S = {spare}", "background",
            {"protocol": "reno-at-25", "spare": spare}, {"protocol": "nice-0.1", "spare": spare}, maximum=1.0,
            holds=spare != 0.5, reason=EDGE if spare == 0.5 else "")
        for spare in (0.5, 1.0, 2.0)
    ],
)  # fmt: skip
