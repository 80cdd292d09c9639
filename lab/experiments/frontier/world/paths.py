# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Today's network: a few numbers turned into a scenario."""

from functools import cache

from netnice_lab.model.background import background, finish
from netnice_lab.model.foreground import DRAIN, poisson
from netnice_lab.model.protocols import Protocol, protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Documents

TODAY_DIFFERS = "Poisson documents of 16 kB on average, bounded Pareto, over fresh CUBIC connections."


def today(
    name: str | Protocol,
    rate: float = 20.0,
    rtt: float = 40.0,
    buffer: float = 1.0,
    queue: str = "fifo",
    flows: int = 16,
    load: float = 0.5,
    seed: int = 1,
    persistent: bool = False,
    duration: float = 60.0,
    foreground: str = "cubic",
) -> Scenario:
    """1448-byte segments, documents (CUBIC's) filling `load` of a link of `rate` Mbit/s and `rtt` ms."""
    chosen = protocol(name) if isinstance(name, str) else name
    capacity, microseconds = int(rate * 1e6), int(rtt * 1e3)
    size = max(6000, round(buffer * capacity * microseconds / 1e6 / 8))
    discipline = Queue("priority" if chosen.priority else queue, bytes=size, average_packet=1514)
    topology = dumbbell(capacity, microseconds, discipline)
    documents = many_users(load * capacity, duration - DRAIN / 2, seed)
    pages = Documents("www", "home", documents, foreground, persistent=persistent)
    traffic = (pages, *background(chosen, flows, (1 - load) * capacity))
    return finish(Scenario(topology, traffic, duration, 10.0, seed), chosen)


many_users = cache(poisson)
