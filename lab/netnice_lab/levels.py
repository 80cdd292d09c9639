# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Flows of one priority beside many of a lower one: TCP Nicer's experiments, and the same at today's rates."""

from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.scenario import Scenario
from netnice_lab.topology import Queue, Topology, dumbbell
from netnice_lab.traffic import Bulk

LEVELS = {
    "nicer": ("reno", "nicer0", "nicer1", "nicer2"),
    "netnice": ("reno", "nice", "nice1", "nice2"),
}
"""The four priorities, highest first: Table I of the paper, and our own preset."""
PACKET, ROUND_TRIP, PAPER_RATE = 512, 80_000, 0.3
"""The paper's packets (bytes), twice its latency of 40 ms (microseconds), and its rate (Mbit/s)."""
LARGE = (("ipv4/tcp_rmem", "4096 4194304 16777216"), ("ipv4/tcp_wmem", "4096 262144 16777216"))
"""Room for the window of a fast link from the start: the lab measures congestion control, not buffer tuning."""
DIFFERS = (
    "Linux 6.12's TCP instead of ns-2's: delayed ACKs in pairs, SACK, windows in segments of 460 bytes. The base "
    "RTT is the paper's latency twice, as its topology has no other. Mean over 100 s from ten seconds after the lower "
    "flows' start, where the paper shows curves."
)
SLOW_WIRE = "a pair takes 27 ms on this wire: those with which 19 flows of level 1 ask are a tenth of it"
TIMES = {0.3: (150.0, 50.0, 60.0), 10.0: (40.0, 12.0, 15.0), 100.0: (20.0, 7.0, 8.0), 1000.0: (9.0, 4.0, 4.5)}
"""Seconds of a run, when the lower flows begin to start, when the measurement begins; by rate in Mbit/s."""


def link(rate: float, buffer: float) -> tuple[Topology, tuple[tuple[str, str], ...]]:
    """The paper's link for its rate (50 packets), else 1500-byte packets and a buffer in BDP; the hosts' sysctls."""
    if rate == PAPER_RATE:
        queue, mtu, rtt = Queue("fifo", packets=50), PACKET, ROUND_TRIP
    else:
        rtt = 40_000 if rate <= 10 else 20_000
        queue, mtu = Queue("fifo", bytes=max(6000, int(buffer * rate * rtt / 8))), 1500
    return dumbbell(int(rate * 1e6), rtt, queue, mtu=mtu), LARGE if rate >= 100 else ()


def pair(
    preset: str, upper: int, lower: int, flows: int, seed: int, rate: float = PAPER_RATE, buffer: float = 1.0
) -> Scenario:
    """One flow of priority `upper`, later `flows` of priority `lower` (0 is the foreground)."""
    topology, sysctls = link(rate, buffer)
    duration, start, measure = TIMES[rate]
    traffic = [Bulk("www", "home", 1, LEVELS[preset][upper], start=(0.1, 0.2), group="upper")]
    if flows:
        starts = (start, start + min(2.0, start / 4))
        traffic.append(Bulk("bulk", "home", flows, LEVELS[preset][lower], start=starts, group="lower"))
    return Scenario(topology, tuple(traffic), duration, measure, seed, sysctls=sysctls)


def together(preset: str, level: int, flows: int, seed: int, rate: float) -> Scenario:
    """Flows of one priority among themselves."""
    topology, sysctls = link(rate, 1.0)
    duration, _, measure = TIMES[rate]
    flow = Bulk("www", "home", flows, LEVELS[preset][level], start=(0.1, 1.0), group="background")
    return Scenario(topology, (flow,), duration, measure, seed, sysctls=sysctls)


def staggered(preset: str, stage: int, seed: int) -> Scenario:
    """Figure 7: the lowest starts at 0 s, the next at 50 s, and so on; measured from 20 RTT after `stage` starts."""
    topology, _ = link(PAPER_RATE, 1.0)
    names = LEVELS[preset][::-1]
    traffic = [
        Bulk(
            "www",
            "home",
            1,
            names[i],
            start=(50.0 * i, 50.0 * i + 0.1),
            group="newcomer" if i == stage else f"older{i}",
        )
        for i in range(stage + 1)
    ]
    begin = 50.0 * stage
    return Scenario(topology, tuple(traffic), begin + 50.0, begin + 20 * ROUND_TRIP / 1e6, seed)


def figure(
    number: int, upper: int, lower: int, claim: str, flows: tuple[int, ...] = (19,), kept: dict[str, str] | None = None
) -> Experiment:
    """One of the paper's figures 1 to 6. `kept`: the presets that miss our bar of 95 %, each with the reason."""
    missed = kept or {}
    names = ("the foreground", "level 0", "level 1", "level 2")
    return Experiment(
        title=f"TCP Nicer, figure {number}: {names[upper]} with {names[lower]} beside it",
        claim=claim,
        differs=DIFFERS,
        sweep={"preset": tuple(LEVELS), "flows": (0, *flows)},
        scenario=lambda preset, flows, seed: pair(preset, upper, lower, flows, seed),
        figures=[
            Figure("flows", "upper", "preset", "lower flows", "upper flow, Mbit/s"),
            Figure("flows", "upper_rtt", "preset", "lower flows", "its RTT, ms"),
        ],
        pinned={"upper": 0.10, "lower": 0.25},
        bars=[
            Bar(f"{preset}: goodput beside {count} lower flows over alone", "upper", {"preset": preset, "flows": count},
                {"preset": preset, "flows": 0}, minimum=0.95, holds=preset not in missed, reason=missed.get(preset, ""))
            for preset in LEVELS for count in flows
        ],
    )  # fmt: skip
