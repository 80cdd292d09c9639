# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figure 8, cable modem: what a long download keeps beside eight transfers, wherever in its sawtooth they begin."""

from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk

RATE, RTT = 10_000_000, 40_000
OTHERS = 8
SETTLED, SAWTOOTH, LASTS = 13.0, 5.0, 12.0
"""Seconds until the download's sawtooth is steady, of one of its teeth, and of the measurement."""
GOLDEN = 0.618
"""Parts of a tooth from one seed's start to the next's: evenly spread however many there are."""
LATE = (
    "late comers take the queue that they find for the path's own delay, and for two seconds eight windows of two "
    "segments are a quarter of what is on the way; it takes a low of the sawtooth, or one that starves, to tell them"
)


def scenario(kind: str, after: float, seed: int) -> Scenario:
    """A CUBIC download; the others join, and `after` seconds later the measurement begins."""
    chosen = protocol(kind)
    joined = SETTLED + SAWTOOTH * (seed * GOLDEN % 1)
    traffic = [Bulk("www", "home", 1, "cubic", (0.0, 0.1), group="download")]
    if not chosen.none:
        traffic.append(Bulk("bulk", "home", OTHERS, chosen.congestion_control, (joined, joined + 0.1)))
    network = dumbbell(RATE, RTT, Queue("fifo", bytes=RATE * RTT // 8_000_000))
    begin = joined + after
    return finish(Scenario(network, tuple(traffic), begin + LASTS, begin, seed), chosen)


def bar(kind: str, after: float, minimum: float, holds: bool = True, reason: str = "") -> Bar:
    """Of what the download has alone."""
    says = f"{kind}: the download's goodput from {after:g} s on, over alone"
    return Bar(
        says,
        "download",
        {"kind": kind, "after": after},
        {"kind": "none", "after": after},
        minimum=minimum,
        holds=holds,
        reason=reason,
    )


experiment = Experiment(
    title="A long download beside eight transfers: 10 Mbit/s, 40 ms, 1 BDP, from their start and from 3 s later",
    claim="On a cable modem, when Reno flows compete with eight Nice flows, they receive 97 % of the bandwidth they "
    "would receive alone; Reno/Reno8 shows fair sharing.",
    differs="The download is CUBIC's and lasts; the paper's transfers of 10 s began together. 12 s are measured.",
    sweep={"kind": ("none", "netnice", "nice-0.1", "reno"), "after": (0.0, 3.0)},
    scenario=scenario,
    figures=[Figure("after", "download", "kind", "seconds after the others' start", "download, Mbit/s")],
    seeds=40,
    pinned={"download": 0.01, "background": 0.20},
    bars=[
        bar("netnice", 3.0, 0.97),
        bar("nice-0.1", 3.0, 0.97),
        bar("netnice", 0.0, 0.97, holds=False, reason=LATE),
    ],
)
