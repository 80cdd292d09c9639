# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figure 6: queueing delay under a BitTorrent-like swarm."""

from experiments.low_priority.world.access import FLAVOURS, LEVELS, LINKS, bulk, scenario
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.traffic import Bulk

UNCHOKED, CHOKING = 4, 10.0
"""Peers served at a time, and seconds after which they change: BitTorrent's own numbers."""
ROUNDS = 12
MS = 125
"""Bytes of queue."""


def swarm(protocol: str) -> tuple[Bulk, ...]:
    """Every ten seconds, four fresh uploads."""
    return tuple(
        bulk("first", protocol, (turn * CHOKING, turn * CHOKING + 1.0), UNCHOKED, stop=(turn + 1) * CHOKING + 0.5)
        for turn in range(ROUNDS)
    )


experiment = Experiment(
    title="A swarm's upload through a 1 Mbit/s line with a second of buffer: the queue",
    claim="Nice keeps the median delay slightly above 250 ms, all other TCP flavours consistently above 500 ms.",
    differs="Four uploads of ten seconds each at a time instead of a BitTorrent client. 1,000 bytes of queue are 8 ms.",
    sweep={"protocol": FLAVOURS, "link": ("adsl",)},
    scenario=lambda protocol, link, seed: scenario(
        LINKS[link], swarm(protocol), (protocol,), ROUNDS * CHOKING, CHOKING, seed
    ),
    figures=[
        Figure("protocol", "queue_p50", "link", "", "median queue, bytes", False, True),
        Figure("protocol", "queue_p95", "link", "", "95th percentile of the queue, bytes", False, True),
    ],
    seeds=2,
    quick={"protocol": ("netnice", "netnice2")},
    pinned={"queue": 0.10, "queue_p50": 0.10, "queue_p95": 0.10},
    bars=[
        Bar(f"{name} keeps the median below 250 ms", "queue_p50", {"protocol": name}, maximum=250 * MS)
        for name in LEVELS
    ] + [
        Bar(f"{name} does not keep it below 500 ms", "queue_p50", {"protocol": name}, minimum=500 * MS)
        for name in ("cubic", "reno", "vegas-1-3", "lp")
    ],
)  # fmt: skip
