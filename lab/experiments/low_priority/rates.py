# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figures 5 and 6, and its case against throttles: what a line carries and queues."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from experiments.low_priority import access
from experiments.low_priority.access import (
    AS_RENO,
    FLAVOURS,
    JITTER,
    LEVELS,
    LINKS,
    MS,
    NICE,
    REPORTED,
    Access,
    bulk,
    scenario,
)
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table
from netnice_lab.model.output import Sampled
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}

OTHERS = tuple(name for name in REPORTED if name != NICE)

# Data rates of two equal flows on the report's kinds of access.
LASTS = 20.0
SLOW = {
    ("lan", "nnledbatpp"): "its gain is 1/12 on a 10 ms path by the draft: it takes minutes to fill 1 Gbit/s, and a "
    "tenth for slowdowns",
    ("lan", "netnice2"): "not examined; its limit is a quarter of a millisecond here",
    ("adsl", "netnice2"): "two flows' pairs meet, each 24 ms of a 50 ms path; one flow by itself has 95 %",
    ("wifi", "netnice1"): JITTER,
    ("wifi", "netnice2"): JITTER,
}
SERVERS = ("lan", "lan-far", "wifi", "adsl", "adsl-far")
"""The report's five: a server in the country and one in the next, its own Wi-Fi."""
NEAR_FULL = (
    "NICE has {mean} of the other: it fills this path as Vegas does, by a segment a round trip. What kept the report's "
    "from it is not known"
)
ONE_PACKET = (
    "{mean}: a packet takes 12 ms of this line, and a fifth of the first RTT, which the threshold begins with, is 10: "
    "two flows are congestion to each other until they have met a longer queue"
)
BY_ROUND_TRIPS = "{mean}: twenty seconds are 600 round trips, by a segment each too few to fill 1 Gbit/s"


@dataclass(frozen=True)
class Each:
    """The goodput of each of two connections, from a time in seconds on."""

    begin: float

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """The slower and the faster."""
        flows = sampled.groups["first"]
        rates = [over_time.goodput(sampled.flow, [number], self.begin, sampled.end) for number in flows]
        return {"slower": min(rates), "faster": max(rates)}


def two(link: str, protocol: str, seed: int) -> Scenario:
    """Two flows of a flavour."""
    made = access.alone(protocol, link, seed, flows=2, duration=LASTS)
    return replace(made, measure=Each(made.warm_up))


def connections(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a connection."""
    import pandas as pd

    return pd.concat([frame.assign(each=frame[name]) for name in ("slower", "faster")], ignore_index=True)


EXPERIMENTS["lbe-fig5"] = Experiment(
    title="Two flows of one flavour: 1 Gbit/s, Wi-Fi-like, 1 Mbit/s ADSL with a deep buffer",
    claim="For low capacities differences are less remarkable; performance discrepancies start to appear under "
    "Wi-Fi and are more evident at 1 Gbit/s, where Nice has less than half the throughput of the others.",
    differs="The two public servers are paths of 10 and 30 ms (ADSL: 50 and 70) here. Ten runs of the report's "
    "flavours.",
    sweep={"link": SERVERS, "protocol": FLAVOURS},
    scenario=two,
    figures=[
        Figure("link", "each", "protocol", "access", "each connection, Mbit/s", False, True, kind="boxes"),
        Figure("link", "first", "protocol", "access", "both flows, Mbit/s", False, True),
        Figure("link", "first_rtt", "protocol", "access", "RTT at the end, ms", False, True),
    ],
    derive=connections,
    seeds=2,
    more_seeds=[({"protocol": name}, 10) for name in REPORTED],
    quick={"link": ("adsl",), "protocol": ("cubic", "netnice", "netnice1")},
    pinned={"first": 0.05},
    bars=[
        Bar(f"{link}: NICE has less than half of {name}", "first", {"link": link, "protocol": NICE},
            {"link": link, "protocol": name}, maximum=0.5, holds=False, reason=NEAR_FULL)
        for link in ("lan", "lan-far") for name in OTHERS
    ] + [
        Bar(f"{link}: {name} has less than CUBIC", "first", {"link": link, "protocol": name},
            {"link": link, "protocol": "cubic"}, maximum=0.95, holds=link != "lan", reason=NEAR_FULL)
        for link, name in (("wifi", "vegas-1-3"), *((link, NICE) for link in ("wifi", "lan", "lan-far")))
    ] + [
        Bar(f"adsl: {name} has what CUBIC has", "first", {"link": "adsl", "protocol": name},
            {"link": "adsl", "protocol": "cubic"}, minimum=least, holds=name != NICE, reason=ONE_PACKET)
        for name, least in (("vegas-1-3", 0.97), (NICE, 0.95))
    ] + [
        Bar(f"{link}: Vegas loses no data rate", "first", {"link": link, "protocol": "vegas-1-3"},
            {"link": link, "protocol": "cubic"}, minimum=0.98, holds=link == "lan", reason=BY_ROUND_TRIPS)
        for link in ("lan", "lan-far")
    ] + [
        Bar(f"{link}: {name} is close to the capacity", "first", {"link": link, "protocol": name}, minimum=0.90,
            holds=name != NICE, reason=ONE_PACKET)
        for link in ("adsl", "adsl-far") for name in REPORTED
    ] + [
        Bar(f"{name} fills {link}", "first", {"link": link, "protocol": name}, {"link": link, "protocol": "cubic"},
            minimum=0.85, holds=(link, name) not in SLOW, reason=SLOW.get((link, name), ""))
        for link in ("lan", "wifi", "adsl") for name in ("vegas-1-3", *LEVELS, "nnledbat", "nnledbatpp")
    ],
    tables=[Table("rates", ("protocol",), "link", [Number("first")])],
)  # fmt: skip

# Queueing delay under a BitTorrent-like swarm.
UNCHOKED, CHOKING = 4, 10.0
"""Peers served at a time, and seconds after which they change: BitTorrent's own numbers."""
ROUNDS = 12
SAMPLE = 0.02
"""Seconds: the largest thousandth is six samples."""
SHORTER = "{mean} bytes, 125 of which are a millisecond; why the report's NICE queued more is not known"
ORDER = ("vegas-1-3", "lp", "reno", "cubic")
"""By the report's queues, after NICE."""


def swarm(protocol: str) -> tuple[Bulk, ...]:
    """Every ten seconds, four fresh uploads."""
    return tuple(
        bulk("first", protocol, (turn * CHOKING, turn * CHOKING + 1.0), UNCHOKED, stop=(turn + 1) * CHOKING + 0.5)
        for turn in range(ROUNDS)
    )


def delays(frame: pd.DataFrame) -> pd.DataFrame:
    """The runs with their queues in ms too; and as rows of their own, how often each flavour's is longer than that."""
    import pandas as pd

    from netnice_lab.measures.results import QUANTILES

    runs = frame.assign(delay=frame.queue / MS, **{name: frame[f"queue_{name}"] / MS for name in QUANTILES})
    longer = [
        {"protocol": protocol, "link": link, "longer": rows[name].mean(), "part": 1 - part}
        for (protocol, link), rows in runs.groupby(["protocol", "link"], sort=False)
        for name, part in QUANTILES.items()
    ]
    return pd.concat([runs, pd.DataFrame(longer)], ignore_index=True)


EXPERIMENTS["lbe-fig6"] = Experiment(
    title="A swarm's upload through a 1 Mbit/s line with a second of buffer: the queue",
    claim="Nice keeps the median delay slightly above 250 ms, all other TCP flavours consistently above 500 ms.",
    differs="Four uploads of ten seconds each at a time instead of a BitTorrent client. 1,000 bytes of queue are 8 ms.",
    sweep={"protocol": FLAVOURS, "link": ("adsl",)},
    scenario=lambda protocol, link, seed: scenario(
        LINKS[link], swarm(protocol), (protocol,), ROUNDS * CHOKING, CHOKING, seed, sample=SAMPLE
    ),
    figures=[
        Figure("protocol", "queue", "link", "", "queue, bytes", kind="boxes"),
        Figure("longer", "part", "protocol", "queueing delay, ms", "part of the time that it is longer", False, True),
    ],
    derive=delays,
    seeds=2,
    more_seeds=[({"protocol": name}, 10) for name in REPORTED],
    quick={"protocol": ("netnice", "netnice2")},
    pinned={"queue": 0.10, "queue_p50": 0.10, "queue_p95": 0.10},
    bars=[
        Bar(f"{name} keeps the median below 250 ms", "queue_p50", {"protocol": name}, maximum=250 * MS)
        for name in LEVELS
    ] + [
        Bar("NICE's median is slightly above 250 ms", "queue_p50", {"protocol": NICE}, minimum=250 * MS,
            maximum=350 * MS, holds=False, reason=SHORTER),
        Bar("NICE is near a second in less than a thousandth of the time", "queue_p999", {"protocol": NICE},
            maximum=900 * MS),
        *(Bar(f"{name} grows to a second", "queue_p999", {"protocol": name}, minimum=900 * MS) for name in OTHERS),
        *(Bar(f"NICE queues at most half of {name}'s", "queue", {"protocol": NICE}, {"protocol": name}, maximum=0.5)
          for name in OTHERS),
        *(Bar(f"{less} queues no more than {more}", "queue", {"protocol": less}, {"protocol": more}, maximum=1.0,
              holds=less == "reno", reason=f"{{mean}}: both fill the buffer; {AS_RENO}")
          for less, more in pairwise(ORDER)),
    ] + [
        Bar(f"{name} does not keep it below 500 ms", "queue_p50", {"protocol": name}, minimum=500 * MS)
        for name in OTHERS
    ],
    tables=[Table("queue", ("protocol",), "link",
                  [Number(name, 0) for name in ("delay", "p05", "p25", "p50", "p75", "p95", "p999")])],
)  # fmt: skip

# Throttles of applications, against which the report argues.
LINE = Access(5_000_000, 40_000, 250_000)
"""Its 5 Mbit/s, with 400 ms of buffer."""
LIMIT = 3_200_000
"""Vuze's advice for it: 400 kB/s."""


def throttled(flows: int, limit: int, seed: int) -> Scenario:
    """CUBIC flows, each with its own limit in bit/s (0: none)."""
    traffic = (replace(bulk("first", "cubic", (0.0, 1.0), flows), rate=limit),)
    return scenario(LINE, traffic, ("cubic",), 40.0, 10.0, seed)


EXPERIMENTS["lbe-throttle"] = Experiment(
    title="One and two CUBIC flows on 5 Mbit/s, each throttled to 3.2 Mbit/s or not: rate and queue",
    claim="A limit leaves capacity unused where a flow is alone: Vuze advises 64 %. Limits that are set independently "
    "may add up to more than the capacity, and the buffer fills.",
    sweep={"flows": (1, 2), "limit": (0, LIMIT)},
    scenario=throttled,
    figures=[
        Figure("flows", "first", "limit", "flows", "all of them, Mbit/s"),
        Figure("flows", "queue", "limit", "flows", "mean queue, bytes"),
    ],
    seeds=2,
    quick={"flows": (2,)},
    pinned={"first": 0.05, "queue": 0.10},
    bars=[
        Bar("one flow at Vuze's limit leaves a third unused", "first", {"flows": 1, "limit": LIMIT},
            {"flows": 1, "limit": 0}, maximum=0.70),
        Bar("one flow at Vuze's limit does not queue", "queue_p95", {"flows": 1, "limit": LIMIT},
            maximum=0.1 * LINE.buffer),
        Bar("two flows at that limit fill the buffer", "queue_p50", {"flows": 2, "limit": LIMIT},
            minimum=0.5 * LINE.buffer),
    ],
    tables=[Table("throttle", ("flows",), "limit", [Number("first"), Number("queue", 0)])],
)  # fmt: skip
