# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The worlds of the report on low-priority TCP in Linux: bulk flows of two flavours on its access links.

Its Wi-Fi and ADSL lines were real. Here the Wi-Fi is a link whose rate changes every 0.5 s, drawn from a log-normal
distribution between a quarter and twice 16 Mbit/s, with 2 ms of jitter on the way of the ACKs and 64 packets of buffer;
the ADSL line sends 1 Mbit/s through one second of buffer.
"""

from dataclasses import dataclass, replace

import numpy as np

from netnice_lab.protocols import protocol
from netnice_lab.scenario import Scenario
from netnice_lab.topology import ETHERNET, Link, Pipe, Queue, Topology
from netnice_lab.traffic import Bulk, Change, Traffic

BEST_EFFORT = ("cubic", "reno", "bbr")
LOW = ("vegas-1-3", "nice", "nnledbat", "nnledbatpp", "nnlp", "lp")
"""`lp` is the kernel's TCP-LP, `nnlp` ours."""
FLAVOURS = (*BEST_EFFORT, *LOW)
STEP = 0.5
ROOMY = (("ipv4/tcp_rmem", "4096 2097152 8388608"),)
"""Receivers whose window is never the limit: buffers here hold up to two seconds."""


@dataclass(frozen=True)
class Access:
    """A kind of access link: bit/s, microseconds of RTT, bytes of buffer; does the rate vary?"""

    rate: int
    rtt: int
    buffer: int
    jitter: int = 0
    varies: bool = False


WIFI = Access(16_000_000, 30_000, 64 * 1514, jitter=2_000, varies=True)
LINKS = {
    "lan": Access(1_000_000_000, 10_000, 1_250_000),
    "wifi": WIFI,
    "adsl": Access(1_000_000, 50_000, 125_000),
    "plain": Access(10_000_000, 40_000, 100_000),
    "deep": Access(10_000_000, 40_000, 500_000),
}


def topology(access: Access, reverse: bool = False) -> Topology:
    """Two hosts that send, a router, one that receives; with `reverse`, the way back is as narrow."""
    queue = Queue("fifo", bytes=access.buffer)
    way_back = Pipe(delay=access.rtt, jitter=access.jitter)
    narrow = Pipe(access.rate, queue)
    return Topology(
        hosts=("first", "second", "home"),
        routers=("router",),
        links=(
            Link("first", "router", back=way_back),
            Link("second", "router", back=way_back),
            Link("router", "home", forward=narrow, back=narrow if reverse else Pipe()),
        ),
    )


def weather(access: Access, duration: float, seed: int) -> tuple[Change, ...]:
    """The rate over time of a link that varies."""
    if not access.varies:
        return ()
    random = np.random.Generator(np.random.PCG64([seed, 0x5717]))
    times = np.arange(STEP, duration, STEP)
    factors = np.clip(random.lognormal(0.0, 0.4, len(times)), 0.25, 2.0)
    burst = 1500 + ETHERNET + 66
    return tuple(
        Change(
            round(float(at), 3),
            "router",
            f"qdisc change dev router-2 root handle 1: tbf rate {round(access.rate * factor)}bit "
            f"burst {burst} limit {access.buffer}",  # tbf hands its limit on to the queue
        )
        for at, factor in zip(times, factors, strict=True)
    )


def scenario(
    access: Access,
    traffic: tuple[Traffic, ...],
    names: tuple[str, ...],
    duration: float,
    warm_up: float,
    seed: int,
    sample: float = 0.1,
    reverse: bool = False,
) -> Scenario:
    """Bulk flows on an access link, with what the named flavours need in the guest."""
    made = Scenario(
        topology(access, reverse),
        (*traffic, *weather(access, duration, seed)),
        duration,
        warm_up,
        seed,
        sample=sample,
        sysctls=ROOMY,
    )
    for name in dict.fromkeys(names):
        flavour = protocol(name)
        parameters = made.parameters
        if flavour.parameters:
            parameters += ((flavour.congestion_control, flavour.parameters),)
        made = replace(made, parameters=parameters, knobs=made.knobs + flavour.knobs)
    return made


def bulk(
    source: str, name: str, start: tuple[float, float], flows: int = 1, group: str = "", stop: float = 0.0
) -> Bulk:
    """Backlogged flows of a flavour from a host to home."""
    return Bulk(source, "home", flows, protocol(name).congestion_control, start, stop, group=group or source)


def alone(name: str, link: str, seed: int, flows: int = 1, duration: float = 40.0) -> Scenario:
    """A flavour by itself."""
    traffic = (bulk("first", name, (0.0, 1.0), flows),)
    return scenario(LINKS[link], traffic, (name,), duration, duration / 4, seed)


def pair(first: str, second: str, link: str, seed: int, duration: float = 25.0) -> Scenario:
    """One flow each, both starting at random within the first five seconds."""
    traffic = (bulk("first", first, (0.0, 5.0)), bulk("second", second, (0.0, 5.0)))
    return scenario(LINKS[link], traffic, (first, second), duration, 5.0, seed)
