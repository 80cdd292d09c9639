# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice's section 5 without the Internet: its four paths, four of today's, and its six actions on them.

The paper names its paths and no more. Their rates are what such lines had in 2002, their buffers are stated here.
"""

from dataclasses import dataclass, replace

import numpy as np

from experiments.low_priority.world.access import ROOMY, STEP, WIFI, factors
from experiments.tcp_nice.world import drive
from netnice_lab.model.background import finish
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import ETHERNET, Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Change, Document, Documents, Traffic
from netnice_lab.model.weather import Weather, changing

GOLDEN = 0.618
"""Parts of a period from one seed's moment in it to the next's: evenly spread however many there are."""
BEGIN = 1.0
"""Seconds after which an action begins."""
TOGETHER = 0.1
"""Seconds within which its transfers do."""
ALONE = 9.0
"""How many times as long as Reno any core may take by itself, and still be seen to end."""
SATELLITE_SLOT = 15.0
"""Seconds after which a terminal is given another satellite, and with it another RTT."""
PAYLOAD = 1448 / (1500 + ETHERNET)


@dataclass(frozen=True)
class Path:
    """Bit/s, microseconds of RTT, bytes of buffer; how long one transfer takes alone, in seconds.

    `varies`: 'wifi' or 'drive', how the rate does; `moves`: least and most microseconds of RTT, if it steps.
    `longest`: how many times as long a transfer beside a background may take, and still be seen to end.
    """

    rate: int
    rtt: int
    buffer: int
    lasts: float = 10.0
    jitter: int = 0
    slots: tuple[int, int] | None = None
    varies: str = ""
    moves: tuple[int, int] | None = None
    longest: float = 2.5

    def network(self, others: tuple[str, ...] = ()) -> Topology:
        """All of the propagation delay is on the way of the ACKs, as in the lab's dumbbell; `others`: more servers."""
        back = Pipe(delay=self.rtt, jitter=self.jitter)
        queue = Queue("fifo", bytes=self.buffer)
        return Topology(
            ("server", "client", *others),
            ("router",),
            (
                Link("server", "router", back=back),
                Link("router", "client", forward=Pipe(self.rate, queue, slots=self.slots)),
                *(Link(other, "router", back=back) for other in others),
            ),
        )

    def rates(self, duration: float, seed: int) -> tuple[float, list[int]]:
        """Seconds between two changes of the rate, and the rate in each."""
        if self.varies == "drive":
            lasting = len(drive.PACKETS) * drive.EVERY
            return drive.EVERY, drive.rates(seed * GOLDEN % 1 * lasting, duration)
        if self.varies:
            return STEP, [self.rate, *(round(self.rate * part) for part in factors(duration, seed)[1])]
        return duration, [self.rate]

    def weather(self, duration: float, seed: int) -> Weather:
        """What changes the rate, if it varies."""
        every, rates = self.rates(duration, seed)
        return changing("router", "router-1", rates[1:], every, self.buffer) if self.varies else ((), ())

    def steps(self, duration: float, seed: int) -> tuple[Change, ...]:
        """What changes the RTT, if it steps."""
        if not self.moves:
            return ()
        random = np.random.Generator(np.random.PCG64([seed, 0x5A7E]))
        times = np.arange(seed * GOLDEN % 1, duration / SATELLITE_SLOT) * SATELLITE_SLOT
        return tuple(
            Change(float(at), "router", f"qdisc change dev router-0 root netem delay {rtt:.0f}us limit 1000000")
            for at, rtt in zip(times, random.uniform(*self.moves, len(times)), strict=True)
        )

    def size(self, seed: int) -> int:
        """Bytes that this path carries, from the beginning of an action on, in the time that a transfer lasts."""
        every, rates = self.rates(BEGIN + self.lasts, seed)
        edges = np.arange(len(rates) + 1) * every
        inside = np.diff(np.clip(edges, BEGIN, BEGIN + self.lasts))
        return int((inside * rates).sum() / 8 * PAYLOAD)


PAPER = {
    "modem": Path(48_000, 150_000, 16_384, longest=9.0),
    "cable": Path(1_500_000, 40_000, 65_536),
    "london": Path(10_000_000, 115_000, 144_000),
    "delaware": Path(100_000_000, 45_000, 562_500),
}
"""A 56 k modem in a good hour and what a modem bank holds for it; a cable modem of 2002; paths with a BDP of buffer."""
TODAY = {
    "lte": Path(drive.LEAST, 60_000, 1_000_000, varies="drive"),
    "wifi": Path(WIFI.rate, WIFI.rtt, WIFI.buffer, jitter=WIFI.jitter, slots=(1_000, 4_000), varies="wifi"),
    "fibre": Path(1_000_000_000, 5_000, 625_000, lasts=3.0),
    "satellite": Path(100_000_000, 40_000, 500_000, moves=(30_000, 60_000)),
}
"""LTE in a car, the lab's Wi-Fi with frames of 1 to 4 ms, fibre, a low orbit whose RTT is another every 15 s."""
PATHS = PAPER | TODAY


def parts(action: str) -> tuple[str, str, int]:
    """The primary's and the secondaries' protocols and how many of these: reno/nice8."""
    primary, _, secondary = action.partition("/")
    if secondary == "null":
        return primary, "none", 0
    many = secondary.endswith("8")
    return primary, secondary.removesuffix("8") if many else secondary, 8 if many else 1


def transfer(path: str, action: str, seed: int) -> Scenario:
    """One action: a file of the primary, and secondaries that last as long as it may take."""
    chosen, (primary, secondary, count) = PATHS[path], parts(action)
    # once the transfer is over, only a background costs anything
    times = ALONE if not count else 2.0 * (1 + count) if secondary == primary else chosen.longest
    duration = BEGIN + chosen.lasts * times
    traffic: tuple[Traffic, ...] = (
        Documents("server", "client", (Document(BEGIN, chosen.size(seed), 0),), primary, tos=0),
    )
    if count:
        traffic += (Bulk("server", "client", count, secondary, (BEGIN, BEGIN + TOGETHER)),)
    changes, knobs = chosen.weather(duration, seed)
    traffic += (*changes, *chosen.steps(duration, seed))
    made = Scenario(chosen.network(), traffic, duration, BEGIN, seed, sysctls=ROOMY)
    for name in dict.fromkeys((primary, secondary)):
        made = finish(made, protocol(name))
    return replace(made, knobs=knobs + made.knobs)
