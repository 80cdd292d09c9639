# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figure 6: queueing delay under a BitTorrent-like swarm."""

from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.lowprio import FLAVOURS, LINKS, bulk, scenario
from netnice_lab.traffic import Bulk

UNCHOKED, CHOKING = 4, 10.0
"""Peers served at a time, and seconds after which they change: BitTorrent's own numbers."""
ROUNDS = 12


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
        Figure("protocol", "queue", "link", "", "mean queue, bytes", False, True),
        Figure("protocol", "queue_p95", "link", "", "95th percentile of the queue, bytes", False, True),
    ],
    seeds=2,
    pinned={"queue": 0.10, "queue_p95": 0.10},
    bars=[
        Bar(f"Nice queues less than half of {name}", "queue", {"protocol": "nice"}, {"protocol": name}, maximum=0.5)
        for name in ("cubic", "reno")
    ],
)  # fmt: skip
