# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Flows of one priority beside many of a lower one: TCP Nicer's experiments, and the same at today's rates."""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from experiments.tcp_nicer.world.measures import Arrival, Beside, Together
from netnice_lab.judgement import misses
from netnice_lab.judgement.misses import Misses
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table, Value
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import ETHERNET, Queue, Topology, dumbbell
from netnice_lab.model.traffic import Bulk

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
DIFFERS = (
    "Linux 6.12's TCP instead of ns-2's: delayed ACKs in pairs, SACK, windows in segments of 460 bytes. The base "
    "RTT is the paper's latency twice, as its topology has no other. Mean over 90 s from ten seconds after the lower "
    "flows' start, where the paper shows curves; latency is the mean of the smoothed RTT over them."
)
SLOW_WIRE = "a pair takes 27 ms on this wire: those with which 19 flows of level 1 ask are a tenth of it"
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


def figure(
    number: int, upper: int, lower: int, claim: str, flows: tuple[int, ...] = (19,), missed: Misses | None = None
) -> Experiment:
    """One of the paper's figures 1 to 6. `missed`: the bars that are not met, MEASURE PRESET xFLOWS, by the reason."""
    names = ("the foreground", "level 0", "level 1", "level 2")
    table = misses.read(missed or {})
    return Experiment(
        title=f"TCP Nicer, figure {number}: {names[upper]} with {names[lower]} beside it",
        claim=claim,
        differs=DIFFERS,
        sweep={"preset": tuple(LEVELS), "flows": (0, *flows)},
        scenario=lambda preset, flows, seed: beside(LEVELS[preset][upper], LEVELS[preset][lower], flows, seed),
        figures=[
            Figure("flows", "upper", "preset", "lower flows", "upper flow, Mbit/s"),
            Figure("flows", "upper_latency", "preset", "lower flows", "its latency, ms"),
        ],
        timelines=[
            course
            for count in flows for preset in LEVELS for course in over_time.courses({"preset": preset, "flows": count})
        ],
        tables=[
            Table("paper", ("preset",), "flows", [
                Number("kept", least=0.95), Number("latency", most=1.05), Number("kept_start"),
                Number("latency_start"), Number("filled", least=0.9),
            ])
        ],
        derive=partial(kept, keys=["preset"]),
        pinned={"upper": 0.10, "lower": 0.25, "upper_latency": 0.05},
        bars=[
            bar
            for preset in LEVELS for count in flows
            for bar in bars(table, f"{preset} x{count}", {"preset": preset, "flows": count})
        ],
    )  # fmt: skip
