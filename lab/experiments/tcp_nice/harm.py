# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What it takes for prefetching on Reno to hurt as in TCP Nice's figure 10: more at a time, larger sites, slower lines.

In nice-fig10 each user prefetches one object after the other, of a site that soon is in the cache. Even on Reno that
makes demand faster. The paper's clients pipelined, and its hints went on without end.
"""

from dataclasses import dataclass, replace

from experiments.tcp_nice.prefetching import LINES, visited
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Topology
from netnice_lab.model.visits import Visits

EXPERIMENTS: dict[str, Experiment] = {}


@dataclass(frozen=True)
class World:
    """Prefetch connections of a user, pages of the site, and the rate of the line, bit/s."""

    prefetches: int = 1
    pages: int = 200
    rate: int = LINES["cable"].rate_bps


WORLDS = {
    "as in nice-fig10": World(),
    "8 at a time": World(prefetches=8),
    "5000 pages": World(pages=5000),
    "8 at a time of 5000 pages": World(8, 5000),
    "1.5 Mbit/s": World(rate=1_500_000),
    "1.5 Mbit/s and 8 at a time of 5000 pages": World(8, 5000, 1_500_000),
}
ARMS = {
    "none": ("none", "reno"),
    "conservative reno": ("conservative", "reno"),
    "aggressive reno": ("aggressive", "reno"),
    "aggressive nice": ("aggressive", "nice"),
    "aggressive netnice": ("aggressive", "netnice"),
}


def slower(topology: Topology, rate: int) -> Topology:
    """The same with another rate of its narrow line."""

    def changed(link: Link) -> Link:
        if not link.forward.rate:
            return link
        return replace(link, forward=replace(link.forward, rate=rate), back=replace(link.back, rate=rate))

    return replace(topology, links=tuple(map(changed, topology.links)))


def scenario(world: str, arm: str, seed: int) -> Scenario:
    """Figure 10's cable modem in another world."""
    wanted, made = WORLDS[world], visited("cable", *ARMS[arm], seed)
    traffic = tuple(
        replace(t, prefetches=wanted.prefetches, pages=wanted.pages) if isinstance(t, Visits) else t
        for t in made.traffic
    )
    return replace(made, topology=slower(made.topology, wanted.rate), traffic=traffic)


def at(world: str, arm: str) -> Cell:
    """A cell."""
    return {"world": world, "arm": arm}


SLOW, LARGE, WORST = "1.5 Mbit/s", "5000 pages", "1.5 Mbit/s and 8 at a time of 5000 pages"
CROWD = (
    "{mean}: 128 connections prefetch on 1.5 Mbit/s, and however rarely each asks with a pair, demand waits for pairs; "
    "on Reno it waits 13 times as long"
)
PAIRS = "{mean}: a pair is 16 ms of this line, and 16 connections ask; on Reno demand waits 5.1 times as long"
EXPERIMENTS["nice-harm"] = Experiment(
    title="Figure 10's cable modem: what it takes for aggressive prefetching on Reno to hurt",
    claim="On Reno aggressive prefetching makes demand an order of magnitude slower, on Nice even faster than before.",
    differs="A property of the paper's world at a time; the line, the site and the visits are ours, as in nice-fig10.",
    sweep={"world": tuple(WORLDS), "arm": tuple(ARMS)},
    scenario=scenario,
    figures=[Figure("world", "waited", "arm", "", "mean wait, ms", False, True)],
    tables=[Table("harm", ("world",), "arm", [Number("waited", 0)])],
    seeds=2,
    pinned={"waited": 0.15},
    bars=[
        Bar("aggressive Reno is an order of magnitude slower than none", "waited", at(WORST, "aggressive reno"),
            at(WORST, "none"), minimum=10.0),
        *(Bar(f"{world}: aggressive Reno hurts", "waited", at(world, "aggressive reno"), at(world, "none"), minimum=1.5)
          for world in (SLOW, LARGE, WORST)),
        *(Bar(f"{world}: aggressive {core} does no harm", "waited", at(world, f"aggressive {core}"), at(world, "none"),
              maximum=1.05, holds=world == LARGE, reason=CROWD if world == WORST else PAIRS)
          for world in (SLOW, LARGE, WORST) for core in ("nice", "netnice")),
    ],
)  # fmt: skip
