# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Lines that people have: both directions narrow, routes that change, radio. Pages load over them.

The radio lines are those of TCP Nice's figure 8: LTE by a drive's trace, Wi-Fi with frames, a satellite whose RTT
steps.
"""

from dataclasses import dataclass, replace

from experiments.frontier.world.paths import many_users
from experiments.low_priority.world.access import ROOMY
from experiments.tcp_nice.world.internet import PATHS
from netnice_lab.model.background import finish
from netnice_lab.model.foreground import DRAIN
from netnice_lab.model.protocols import Protocol, protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Change, Documents, Traffic

DURATION, WARM_UP = 60.0, 15.0
START = (0.5, 2.5)
FLOWS = 2
"""Of the background, each way."""
LOAD = 0.1
"""Part of the line that the pages take on average."""


@dataclass(frozen=True)
class Line:
    """Bit/s from the house and to it, microseconds of RTT, seconds that a full buffer lasts."""

    up: int
    down: int
    rtt: int
    buffer: float = 0.5

    def pipe(self, rate: int, kind: str) -> Pipe:
        """One direction: its rate and its queue."""
        return Pipe(rate, Queue(kind, bytes=round(rate / 8 * self.buffer)))

    def network(self, kind: str) -> Topology:
        """Two hosts at home, a modem, the provider, two hosts far away."""
        narrow = Link("modem", "isp", forward=self.pipe(self.up, kind), back=self.pipe(self.down, kind))
        far = Pipe(delay=self.rtt)
        return Topology(
            ("pc", "user", "www", "peer"),
            ("modem", "isp"),
            (
                Link("pc", "modem"),
                Link("user", "modem"),
                narrow,
                Link("isp", "www", forward=far),
                Link("isp", "peer", forward=far),
            ),
        )


LINES = {
    "symmetric": Line(10_000_000, 10_000_000, 20_000),
    "household": Line(10_000_000, 50_000_000, 20_000),
}


def pages(server: str, home: str, rate: float, seed: int) -> Documents:
    """Pages of many users that take LOAD of `rate` bit/s."""
    return Documents(server, home, many_users(LOAD * rate, DURATION - DRAIN, seed), "cubic")


def kind(chosen: Protocol) -> str:
    """The line's queue: does it know what may wait?"""
    return "priority" if chosen.priority else "fifo"


def at_home(name: str, line: str, way: str, stamps: bool, seed: int) -> Scenario:
    """Uploads, downloads, both, or uploads 'beside' two downloads of CUBIC."""
    chosen, place = protocol(name), LINES[line]
    traffic: list[Traffic] = [pages("www", "user", place.down, seed)]
    if not chosen.none and way != "down":
        traffic.append(Bulk("pc", "peer", FLOWS, chosen.congestion_control, START, group="up"))
    if not chosen.none and way != "up":
        other = "cubic" if way == "beside" else chosen.congestion_control
        traffic.append(Bulk("peer", "pc", FLOWS, other, START, group="down"))
    sysctls = ROOMY if stamps else (*ROOMY, ("ipv4/tcp_timestamps", "0"))
    made = Scenario(place.network(kind(chosen)), tuple(traffic), DURATION, WARM_UP, seed, sysctls=sysctls)
    return finish(made, chosen)


def by_radio(name: str, line: str, seed: int) -> Scenario:
    """Two downloads from one host, pages from another."""
    chosen, path = protocol(name), PATHS[line]
    back = Pipe(delay=path.rtt, jitter=path.jitter)
    queue = Queue(kind(chosen), bytes=path.buffer)
    network = Topology(
        ("www", "bulk", "home"),
        ("router",),
        (
            Link("www", "router", back=back),
            Link("router", "home", forward=Pipe(path.rate, queue, slots=path.slots)),
            Link("bulk", "router", back=back),
        ),
    )
    _, rates = path.rates(DURATION, seed)
    traffic: list[Traffic] = [pages("www", "home", sum(rates) / len(rates), seed)]
    if not chosen.none:
        traffic.append(Bulk("bulk", "home", FLOWS, chosen.congestion_control, START))
    changes, knobs = path.weather(DURATION, seed)
    steps = path.steps(DURATION, seed)
    both = (*steps, *(replace(step, command=step.command.replace("router-0", "router-2")) for step in steps))
    made = finish(Scenario(network, (*traffic, *changes, *both), DURATION, WARM_UP, seed, sysctls=ROOMY), chosen)
    return replace(made, knobs=knobs + made.knobs)


CHANGE, SETTLED, MEASURED = 40.0, 10.0, 20.0
"""Seconds: when the route changes, after how many it should have been found, for how long that is measured."""
NEAR, FAR = 20_000, 120_000
"""Microseconds one way, before and after."""


def rerouted(name: str, way: str, step: str, stamps: bool, seed: int) -> Scenario:
    """One flow over 10 Mbit/s, RTT 40 ms: the way 'there' or 'back' becomes 100 ms longer, or as much shorter."""
    chosen = protocol(name)
    before, after = (NEAR, FAR) if step == "up" else (FAR, NEAR)
    there, back = (before, NEAR) if way == "there" else (NEAR, before)
    network = Topology(
        ("bulk", "home"),
        ("router", "modem"),
        (
            Link("bulk", "router", back=Pipe(delay=back)),
            Link("router", "modem", forward=Pipe(10_000_000, Queue("fifo", bytes=175_000))),
            Link("modem", "home", forward=Pipe(delay=there)),
        ),
    )
    node, device = ("modem", "modem-2") if way == "there" else ("router", "router-0")
    change = Change(CHANGE, node, f"qdisc change dev {device} root netem delay {after}us limit 1000000")
    flow = Bulk("bulk", "home", 1, chosen.congestion_control, (0.0, 1.0))
    start = CHANGE + SETTLED
    sysctls = ROOMY if stamps else (*ROOMY, ("ipv4/tcp_timestamps", "0"))
    return finish(Scenario(network, (flow, change), start + MEASURED, start, seed, sysctls=sysctls), chosen)
