# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's testbed: research report 474, section 0.4.1."""

from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk

RATE, RTT, BUFFER = 10_000_000, 100_000, 86
JITTER = 250
"""Microseconds by which arrivals are early or late: the paper's machines were real. Chosen by its figure 9."""
CAPACITY = 9.564
"""Mbit/s of payload that a 10 Mbit/s link carries: 1448 of 1514 bytes."""
START, STOP, END = 45.0, 135.0, 180.0
"""The paper's 3 minutes: background for the middle 90 seconds."""
AFTER = END - STOP
LIMITED = 6_000_000
STAGGER = 20.0


def testbed(jitter: int = JITTER) -> Topology:
    """10 Mbit/s, 100 ms, 86 packets; the way back is as slow, with a long queue. `jitter` in microseconds."""
    forward = Pipe(RATE, Queue("fifo", packets=BUFFER), jitter=jitter)
    back = Pipe(RATE, Queue("fifo", packets=1000))
    return Topology(
        hosts=("server", "home"),
        routers=("router",),
        links=(Link("server", "router", back=Pipe(delay=RTT)), Link("router", "home", forward=forward, back=back)),
    )


def background(congestion_control: str, start: float = 0.0, stop: float = 0.0) -> Bulk:
    """One flow whose receiver yields."""
    return Bulk(
        "server",
        "home",
        1,
        congestion_control,
        start=(start, start + 0.1),
        stop=stop,
        receiver=True,
        group="background",
    )


REVERSE = Bulk("home", "server", 1, "cubic", start=(0.0, 0.1), rate=LIMITED, group="reverse")
STEADY = Bulk("server", "home", 1, "cubic", start=(0.0, 0.1), rate=LIMITED, group="foreground")
