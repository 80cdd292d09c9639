# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The foreground's documents: a seeded generator with stated statistics, in place of the paper's Squid trace.

The paper replays 15 minutes of a proxy trace of UC Berkeley that is not public. About 12 clients are active on
average; clients come and go. The link is dimensioned by the trace's mean demand. The generator draws

    clients     enter as a Poisson process, stay for an exponential time (mean 60 s), 12 present on average
    pages       a client asks for a page, thinks (exponential, mean 3 s), asks for the next
    documents   per page geometric, mean 3; within a page exponential gaps of mean 0.2 s
    sizes       bounded Pareto, shape 1.1, 2 kB to 500 kB: mean 9.7 kB, median 3.8 kB; the largest 1 % of the
                documents carry about a quarter of the bytes

and then scales all sizes by one factor so that the mean demand over the run is exactly the one asked for. Spare
capacity is a condition of an experiment, not an outcome.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netnice_lab.errors import LabError
from netnice_lab.model.traffic import Document

DRAIN = 8.0
"""Seconds after the last document is asked for: it may still arrive."""


@dataclass(frozen=True)
class Browsing:
    """Parameters of the generator; times in seconds, sizes in bytes, demand in bit/s."""

    demand: float
    clients: float = 12.0
    stay: float = 60.0
    think: float = 3.0
    per_page: float = 3.0
    gap: float = 0.2
    shape: float = 1.1
    smallest: float = 2000.0
    largest: float = 500_000.0

    def sizes(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Bounded Pareto by inversion."""
        tail = (self.smallest / self.largest) ** self.shape
        scaled: NDArray[np.float64] = (1 - random.random(count) * (1 - tail)) ** (-1 / self.shape)
        return self.smallest * scaled

    def documents(self, duration: float, seed: int) -> tuple[Document, ...]:
        """The documents of a run, by the time they are asked for."""
        if self.demand <= 0 or duration <= 0:
            raise LabError("a demand and a duration must be positive", f"{self.demand}, {duration}")
        random = np.random.Generator(np.random.PCG64([seed, 0xD0C5]))
        begin = -5 * self.stay  # so that the number of clients is stationary at time 0
        arrivals = random.poisson(self.clients / self.stay * (duration - begin))
        times: list[tuple[float, int]] = []
        for client in range(arrivals):
            at = random.uniform(begin, duration)
            leave = min(at + random.exponential(self.stay), duration)
            while at < leave:
                moment = at
                for _ in range(random.geometric(1 / self.per_page)):
                    if 0 <= moment < leave:
                        times.append((moment, client))
                    moment += random.exponential(self.gap)
                at = moment + random.exponential(self.think)
        if not times:
            raise LabError("no document falls into the run", f"{duration} s", "make it longer")
        times.sort()
        sizes = self.sizes(random, len(times))
        sizes *= self.demand / 8 * duration / sizes.sum()
        return tuple(Document(at, max(1, round(size)), client) for (at, client), size in zip(times, sizes, strict=True))


def poisson(
    demand: float, duration: float, seed: int, mean_size: float = 16_000.0, clients: int = 64
) -> tuple[Document, ...]:
    """Poisson arrivals of bounded-Pareto documents: today's many independent users of one link."""
    random = np.random.Generator(np.random.PCG64([seed, 0x9015]))
    count = max(1, random.poisson(demand / 8 / mean_size * duration))
    sizes = Browsing(demand).sizes(random, count)
    sizes *= demand / 8 * duration / sizes.sum()
    times = np.sort(random.uniform(0, duration, count))
    return tuple(
        Document(float(at), max(1, round(size)), number % clients)
        for number, (at, size) in enumerate(zip(times, sizes, strict=True))
    )
