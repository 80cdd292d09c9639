# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The worlds of the report on low-priority TCP in Linux: bulk flows of two flavours on its access links.

Its Wi-Fi and ADSL lines were real. Here the Wi-Fi is a link whose rate changes every 0.5 s, drawn from a log-normal
distribution between a quarter and twice 16 Mbit/s. It has 2 ms of jitter on the way of the ACKs, and a buffer of 64
packets. The ADSL line sends 1 Mbit/s through one second of buffer, `bloated` through four.
"""

from dataclasses import dataclass, replace

import numpy as np

from netnice_lab.model.background import PathChanges, changing
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import ETHERNET, Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Traffic

BEST_EFFORT = ("cubic", "reno", "bbr")
LEVELS = ("netnice", "netnice1", "netnice2")
NICE = "nice-0.2"
"""The report's NICE: a threshold of .2, half of a round's segments."""
HALVES = "{mean} for Vegas: it takes off a segment where NICE halves, at each fall of the link's rate"
"""Why Vegas has more than the report's NICE here."""
REPORTED = ("cubic", "reno", "vegas-1-3", "lp", NICE)
"""The report's five flavours."""
LOW = ("vegas-1-3", NICE, *LEVELS, "nnledbat", "nnledbatpp", "nnlp", "lp")
"""`lp` is the kernel's TCP-LP, `nnlp` ours."""
FLAVOURS = (*BEST_EFFORT, *LOW)
JITTER = (
    "2 ms of jitter on the way of the ACKs are more than its band: it starves until its first look, some seconds, and "
    "again whenever the rate falls; of 10 steady Mbit/s with 2 ms of jitter netnice1 has 96 %, netnice2 72 to 87"
)
"""Why netnice1 and netnice2 have less than others on this Wi-Fi, even alone."""
AS_RENO = "with random timestamp offsets the kernel's lp is NewReno (lbe-lp)"
"""Why the kernel's TCP-LP does not yield."""
MS = 125
"""Bytes that the lines of 1 Mbit/s send in a millisecond."""
STEP = 0.5
PAIR_STARTS, PAIR_LASTS = 5.0, 25.0
PAYLOAD = 1448 / (1500 + ETHERNET)
"""Of a full packet with timestamps."""
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
    "lan-far": Access(1_000_000_000, 30_000, 1_250_000),
    "wifi": WIFI,
    "adsl": Access(1_000_000, 50_000, 125_000),
    "adsl-far": Access(1_000_000, 70_000, 125_000),
    "bloated": Access(1_000_000, 50_000, 500_000),
    "plain": Access(10_000_000, 40_000, 100_000),
    "deep": Access(10_000_000, 40_000, 500_000),
}


def topology(access: Access, reverse: bool = False, homes: tuple[str, ...] = ("home",)) -> Topology:
    """Two hosts that send, a router, hosts that receive; with `reverse`, their modem sends through as narrow a link."""
    queue = Queue("fifo", bytes=access.buffer)
    way_back = Pipe(delay=access.rtt, jitter=access.jitter)
    narrow = Pipe(access.rate, queue)
    hosts = ("first", "second", *homes)
    senders = Link("first", "router", back=way_back), Link("second", "router", back=way_back)
    if len(homes) == 1 and not reverse:
        return Topology(hosts, ("router",), (*senders, Link("router", *homes, forward=narrow)))
    # not on the host itself, where TCP's small queues would keep an upload from filling the buffer
    last = Link("router", "modem", forward=narrow, back=narrow if reverse else Pipe())
    return Topology(hosts, ("router", "modem"), (*senders, last, *(Link("modem", home) for home in homes)))


def factors(duration: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """When the rate of a link that varies changes, and to how much of its nominal one."""
    random = np.random.Generator(np.random.PCG64([seed, 0x5717]))
    times = np.arange(STEP, duration, STEP)
    return times, np.clip(random.lognormal(0.0, 0.4, len(times)), 0.25, 2.0)


def changing_path(access: Access, duration: float, seed: int) -> PathChanges:
    """The rate over time of a link that varies."""
    if not access.varies:
        return (), ()
    rates = [round(access.rate * part) for part in factors(duration, seed)[1]]
    return changing("router", "router-2", rates, STEP, access.buffer)


def scenario(
    access: Access,
    traffic: tuple[Traffic, ...],
    names: tuple[str, ...],
    duration: float,
    warm_up: float,
    seed: int,
    sample: float = 0.1,
    network: Topology | None = None,
) -> Scenario:
    """Bulk flows on an access link, with what the named flavours need in the guest."""
    changes, script = changing_path(access, duration, seed)
    made = Scenario(
        network or topology(access),
        (*traffic, *changes),
        duration,
        warm_up,
        seed,
        sample=sample,
        sysctls=ROOMY,
        knobs=script,
    )
    for name in dict.fromkeys(names):
        flavour = protocol(name)
        parameters = made.parameters
        if flavour.parameters:
            parameters += ((flavour.congestion_control, flavour.parameters),)
        made = replace(made, parameters=parameters, knobs=made.knobs + flavour.knobs)
    return made


def bulk(
    source: str,
    name: str,
    start: tuple[float, float],
    flows: int = 1,
    group: str = "",
    stop: float = 0.0,
    sink: str = "home",
) -> Bulk:
    """Backlogged flows of a flavour from a host."""
    return Bulk(source, sink, flows, protocol(name).congestion_control, start, stop, group=group or source)


def alone(name: str, link: str, seed: int, flows: int = 1, duration: float = 40.0) -> Scenario:
    """A flavour by itself."""
    traffic = (bulk("first", name, (0.0, 1.0), flows),)
    return scenario(LINKS[link], traffic, (name,), duration, duration / 4, seed)


def pair(first: str, second: str, link: str, seed: int) -> Scenario:
    """One flow each, both starting at random within the first five seconds."""
    traffic = (bulk("first", first, (0.0, PAIR_STARTS)), bulk("second", second, (0.0, PAIR_STARTS)))
    return scenario(LINKS[link], traffic, (first, second), PAIR_LASTS, PAIR_STARTS, seed, sample=0.0)


def pair_capacity(link: str, seed: int) -> float:
    """What a pair's link could have carried while it was measured, Mbit/s of payload."""
    access, mean = LINKS[link], 1.0
    if access.varies:
        times, parts = factors(PAIR_LASTS, seed)
        mean = float(parts[times >= PAIR_STARTS].mean())
    return access.rate * mean * PAYLOAD / 1e6
