# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What real programs do with connections: they keep idle ones, pause, greet, send in blocks, share a host with others.

One line of 20 Mbit/s and 40 ms; where a world has two lines, the other has 2 Mbit/s. The sender that is measured
("busy") always has data, unless the world is about a sender that has not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from experiments.frontier import many_users
from experiments.low_priority.access import ROOMY
from netnice_lab.judgement import misses
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure
from netnice_lab.model.foreground import DRAIN
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Change, Documents, Traffic

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

RATE, SLOW, RTT = 20_000_000, 2_000_000, 40_000
DURATION, WARM_UP = 60.0, 20.0
DIES = 10.0
"""Seconds: when the network of a world's first connections goes away; the busy one starts later."""
ENDLESS = 1_000_000


def one(control: str, **what: object) -> Bulk:
    """A sender from the host whose sender is measured."""
    return replace(Bulk("bulk", "home", 1, control, (1.0, 1.5), group="busy"), **what)  # type: ignore[arg-type]  # by name


def idle(control: str, number: int, warmed: int = 1, **what: object) -> Bulk:
    """Connections that send so many bytes and are kept."""
    return one(control, flows=number, bytes=warmed, start=(0.1, 0.9), group="idle", **what)


World = Callable[[str], Sequence[Traffic]]


@dataclass(frozen=True)
class Shape:
    """Traffic for a congestion control; whether the busy sender always has data, and on how many lines."""

    traffic: World
    busy: bool = True
    lines: int = 1


SHAPES: dict[str, Shape] = {
    "always": Shape(lambda cc: [one(cc)]),
    **{
        f"idle-{n}": Shape(lambda cc, n=n: [idle(cc, n), one(cc)])  # type: ignore[misc]  # n is of this round
        for n in (1, 4, 15)
    },
    "warmed-15": Shape(lambda cc: [idle(cc, 15, 60_000), one(cc, start=(4.0, 4.5))]),
    "of-1000": Shape(lambda cc: [idle(cc, 990), one(cc, flows=10)]),
    "greeting": Shape(lambda cc: [one(cc, message=80, messages=5, gap=0.1)]),
    "blocks": Shape(lambda cc: [one(cc, message=65_536, messages=ENDLESS, gap=0.15)], busy=False),
    "requests": Shape(lambda cc: [one(cc, message=8_192, messages=ENDLESS, gap=0.1)], busy=False),
    **{
        f"pause-{off}": Shape(lambda cc, off=off: [one(cc, on=3.0, off=off)], busy=False)  # type: ignore[misc]
        for off in (0.1, 1.0, 20.0)
    },
    "two-users": Shape(lambda cc: [idle(cc, 15, 60_000, user=1000), one(cc, user=1001, start=(4.0, 4.5))]),
    "dead-6": Shape(
        lambda cc: [
            one(cc, flows=6, group="dead"),
            Change(DIES, "bulk", "qdisc add dev bulk-1 clsact"),
            Change(DIES + 0.1, "bulk", "filter add dev bulk-1 egress protocol ip u32 match ip dport 5001 0xffff action drop"),
            one(cc, start=(DIES + 1, DIES + 1.5)),
        ]
    ),
    "dual-stack": Shape(
        lambda cc: [
            one(cc, mapped=True),
            Bulk("bulk", "far", 1, cc, (1.0, 1.5), group="slow", mapped=True),
        ],
        lines=2,
    ),
    "ipv4-both": Shape(lambda cc: [one(cc), Bulk("bulk", "far", 1, cc, (1.0, 1.5), group="slow")], lines=2),
}


def network(shape: Shape) -> Topology:
    """A line to a home, and in some worlds a slower one to another."""

    def queue(rate: int) -> Queue:
        return Queue("fifo", bytes=round(rate / 8 * RTT / 1e6))

    far = (Link("router", "far", forward=Pipe(SLOW, queue(SLOW))),) if shape.lines > 1 else ()
    return Topology(
        ("www", "bulk", "home", *(("far",) if far else ())),
        ("router",),
        (
            Link("www", "router", back=Pipe(delay=RTT)),
            Link("bulk", "router", back=Pipe(delay=RTT)),
            Link("router", "home", forward=Pipe(RATE, queue(RATE))),
            *far,
        ),
    )


def scenario(name: str, world: str, beside: str, seed: int) -> Scenario:
    """A world alone, or beside documents that take a quarter of the line."""
    chosen, shape = protocol(name), SHAPES[world]
    traffic = [] if chosen.none else list(shape.traffic(chosen.congestion_control))
    if beside == "documents":
        documents = many_users(0.25 * RATE, DURATION - DRAIN, seed)
        traffic.append(Documents("www", "home", documents, "cubic"))
    made = Scenario(network(shape), tuple(traffic), DURATION, WARM_UP, seed, sysctls=ROOMY)
    return finish(made, chosen)


def exists(cell: Cell) -> bool:
    """Documents without any background once."""
    return cell["protocol"] != "none" or (cell["world"] == "always" and cell["beside"] == "documents")


def bars(world: str) -> list[Bar]:
    """Alone it is as fast as CUBIC is; beside documents it costs no more than a sender that always has data."""
    cell: Cell = {"protocol": "netnice", "world": world, "beside": "nothing"}
    found = [
        misses.bar(MISSES["programs"], f"goodput alone / CUBIC's {world}", "busy", cell,
                   {**cell, "protocol": "cubic"}, minimum=0.95),
    ]  # fmt: skip
    if world != "always":
        beside: Cell = {**cell, "beside": "documents"}
        found.append(
            misses.bar(MISSES["programs"], f"documents beside it / beside one that always has data {world}", "latency",
                       beside, {**beside, "world": "always"}, maximum=1.02)
        )  # fmt: skip
    if SHAPES[world].lines > 1:
        found.append(Bar(f"the slow client's RTT, ms {world}", "slow_rtt", cell, maximum=150))
        found.append(
            misses.bar(MISSES["programs"], f"the slow client's goodput / CUBIC's {world}", "slow", cell,
                       {**cell, "protocol": "cubic"}, minimum=0.95)
        )  # fmt: skip
    return found


MISSES["programs"] = misses.read({})
EXPERIMENTS["programs"] = Experiment(
    title="What programs do with their connections, at 20 Mbit/s and 40 ms",
    claim="Not in the papers: their senders always have data, and a host has one kind of connection.",
    sweep={"protocol": ("none", "cubic", "netnice"), "world": tuple(SHAPES), "beside": ("nothing", "documents")},
    scenario=lambda protocol, world, beside, seed: scenario(protocol, world, beside, seed),
    exists=exists,
    figures=[Figure("world", "busy", "protocol", "", "goodput, Mbit/s", panel="beside")],
    seeds=2,
    quick={"world": ("always", "idle-15", "dual-stack", "dead-6")},
    pinned={"busy": 0.1, "latency": 0.1},
    bars=[bar for world in SHAPES for bar in bars(world)],
)  # fmt: skip
