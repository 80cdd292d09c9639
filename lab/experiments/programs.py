# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What real programs do with connections: they keep idle ones, pause, greet, send in blocks, share a host with others.

One line of 20 Mbit/s and 40 ms; where a world has two lines, the other has 2 Mbit/s. The sender that is measured
("busy") always has data, unless the world is about a sender that has not. Each world alone, beside documents, and
beside a long flow of CUBIC that comes and goes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from experiments.frontier import many_users
from experiments.low_priority.access import ROOMY
from netnice_lab.judgement import misses
from netnice_lab.measures.over_time import goodput
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure
from netnice_lab.model.foreground import DRAIN
from netnice_lab.model.output import Sampled
from netnice_lab.model.protocols import protocol
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import IPV6, MAPPED, Bulk, Change, Datagrams, Documents, Traffic

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

RATE, SLOW, RTT = 20_000_000, 2_000_000, 40_000
POLICED = 10_000_000
DIES = 10.0
"""Seconds: when the network of a world's first connections goes away; the busy one starts later."""
ENDLESS = 1_000_000
COMES, LASTS = 10.0, 15.0
"""Seconds: when the long foreground comes, after the warm-up, and how long it stays."""
SETTLES, RETURNS = 5.0, 7.0
"""Seconds that the background has to give way, and to come back."""

World = Callable[[str], Sequence[Traffic]]


def fifo(rate: int) -> Queue:
    """One BDP."""
    return Queue("fifo", bytes=round(rate / 8 * RTT / 1e6))


HOME = Pipe(RATE, fifo(RATE))


@dataclass(frozen=True)
class Shape:
    """Traffic for a congestion control; the lines to its receiver and back; times in seconds."""

    traffic: World
    line: Pipe = HOME
    back: Pipe = field(default_factory=Pipe)
    far: bool = False
    ipv6: bool = False
    warm_up: float = 20.0
    duration: float = 60.0


def one(control: str, **what: object) -> Bulk:
    """A sender from the host whose sender is measured."""
    return replace(Bulk("bulk", "home", 1, control, (1.0, 1.5), group="busy"), **what)  # type: ignore[arg-type]  # by name


def idle(control: str, number: int, warmed: int = 1, **what: object) -> Bulk:
    """Connections that send so many bytes and are kept."""
    return one(control, flows=number, bytes=warmed, start=(0.1, 0.9), group="idle", **what)


def pooled(number: int, control: str) -> Sequence[Traffic]:
    """One that sends beside idle ones."""
    return [idle(control, number), one(control)]


def pausing(on: float, off: float, control: str) -> Sequence[Traffic]:
    """One that sends and is silent in turns."""
    return [one(control, on=on, off=off)]


def two_lines(family: int, control: str) -> Sequence[Traffic]:
    """A server with a fast client and a slow one."""
    far = Bulk("bulk", "far", 1, control, (1.0, 1.5), group="slow", family=family)
    return [one(control, family=family), far]


def silence(begins: float, ends: float) -> Sequence[Traffic]:
    """The network of the host's connections takes nothing for a while."""
    device = "dev bulk-1"
    gone = f"filter add {device} egress protocol ip u32 match ip dport 5001 0xffff action drop"
    return [
        Change(begins, "bulk", f"qdisc add {device} clsact"),
        Change(begins + 0.1, "bulk", gone),
        *([Change(ends, "bulk", f"filter del {device} egress")] if ends else []),
    ]


def dead(control: str) -> Sequence[Traffic]:
    """Six whose network dies, and one that comes later."""
    late = one(control, start=(DIES + 1, DIES + 1.5))
    return [one(control, flows=6, group="dead"), *silence(DIES, 0), late]


def reconnecting(control: str) -> Sequence[Traffic]:
    """Its network goes away; the program gives up, and connects again when it is back."""
    again = one(control, start=(DIES + 6, DIES + 6.5))
    return [one(control, stop=DIES + 3, group="before"), *silence(DIES, DIES + 5), again]


def both_ways(control: str) -> Sequence[Traffic]:
    """A program's two uploads and two downloads: the downloads' own sockets, which send nothing, are nice too."""
    nice = control != "cubic"
    down = Bulk("home", "bulk", 2, "cubic", (1.0, 1.5), group="down", sink_control=control, receiver=nice)
    return [one(control, flows=2), down]


def playing(control: str) -> Sequence[Traffic]:
    """Four uploads beside a game."""
    game = Datagrams("www", "home", 30 * 8 * GAME, 0.5, 60.0, packet=GAME)
    return [one(control, flows=4), game]


GAME = 128
"""Bytes of a game's packet, thirty a second."""
POLICERS = {
    "policer-32k": Pipe(POLICED, Queue("fifo", packets=1), burst=32_000),
    "policer-1m": Pipe(POLICED, Queue("fifo", packets=1), burst=1_000_000),
    # Kubernetes' bandwidth plug-in has its burst in the limit, too
    "kubernetes": Pipe(POLICED, Queue("fifo", bytes=4_000_000 + 31_250), burst=4_000_000),
}
SLOW_LINES = {f"slow-{rate / 1e6:g}": Pipe(rate, Queue("fifo", bytes=64_000)) for rate in (350_000, 750_000, 1_500_000)}

SHAPES: dict[str, Shape] = {
    "always": Shape(lambda cc: [one(cc)]),
    **{f"idle-{n}": Shape(partial(pooled, n)) for n in (1, 4, 15)},
    "warmed-15": Shape(lambda cc: [idle(cc, 15, 60_000), one(cc, start=(4.0, 4.5))]),
    "of-1000": Shape(lambda cc: [idle(cc, 990), one(cc, flows=10)]),
    "greeting": Shape(lambda cc: [one(cc, message=80, messages=5, gap=0.1)]),
    "blocks": Shape(lambda cc: [one(cc, message=65_536, messages=ENDLESS, gap=0.15)]),
    "requests": Shape(lambda cc: [one(cc, message=8_192, messages=ENDLESS, gap=0.1)]),
    "pause-.1": Shape(partial(pausing, 3.0, 0.1)),
    "pause-1": Shape(partial(pausing, 3.0, 1.0)),
    "longer": Shape(lambda cc: [one(cc)], duration=90.0),
    "pause-20": Shape(partial(pausing, 8.0, 20.0), duration=90.0),
    "late": Shape(lambda cc: [one(cc, start=(290.0, 291.0))], warm_up=300.0, duration=345.0),
    "pause-300": Shape(partial(pausing, 20.0, 300.0), warm_up=300.0, duration=345.0),
    "opens": Shape(lambda cc: [one(cc, reads=(2_000_000, 18.0))]),
    "two-users": Shape(lambda cc: [idle(cc, 15, 60_000, user=1000), one(cc, user=1001, start=(4.0, 4.5))]),
    "dead-6": Shape(dead),
    "reconnects": Shape(reconnecting),
    "ipv6": Shape(lambda cc: [one(cc, family=IPV6)], ipv6=True),
    "dual-stack": Shape(partial(two_lines, MAPPED), far=True),
    "ipv4-both": Shape(partial(two_lines, 0), far=True),
    "both-ways": Shape(both_ways, back=HOME),
    **{name: Shape(lambda cc: [one(cc)], line=line) for name, line in POLICERS.items()},
    **{name: Shape(playing, line=line) for name, line in SLOW_LINES.items()},
}


@dataclass(frozen=True)
class Turns:
    """What the long foreground got while it was there, and the busy sender when it had gone."""

    began: float
    ended: float

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Mbit/s; without it, those of the same seconds."""
        flow, groups = sampled.flow, sampled.groups
        found = {"back_rate": goodput(flow, groups.get("busy", []), self.ended + RETURNS, sampled.end)}
        if "long" in groups:
            found["kept_rate"] = goodput(flow, groups["long"], self.began + SETTLES, self.ended)
        return found


def network(shape: Shape) -> Topology:
    """A line to a home, and in some worlds a slower one to another."""
    far = (Link("router", "far", forward=Pipe(SLOW, Queue("fifo", packets=170))),) if shape.far else ()
    return Topology(
        ("www", "bulk", "home", *(("far",) if far else ())),
        ("router",),
        (
            Link("www", "router", back=Pipe(delay=RTT)),
            Link("bulk", "router", back=Pipe(delay=RTT)),
            Link("router", "home", forward=shape.line, back=shape.back),
            *far,
        ),
        ipv6=shape.ipv6,
    )


def scenario(name: str, world: str, beside: str, seed: int) -> Scenario:
    """A world alone, beside documents that take a quarter of the line, or beside a flow that comes and goes."""
    chosen, shape = protocol(name), SHAPES[world]
    began = shape.warm_up + COMES
    traffic = list(shape.traffic(chosen.congestion_control if not chosen.none else "cubic"))
    if chosen.none:
        traffic = [one for one in traffic if isinstance(one, Datagrams)]
    if beside == "documents":
        documents = many_users(0.25 * shape.line.rate, shape.duration - DRAIN, seed)
        traffic.append(Documents("www", "home", documents, "cubic"))
    if beside == "long":
        traffic.append(Bulk("www", "home", 1, "cubic", (began, began), stop=began + LASTS, group="long"))
    made = Scenario(
        network(shape), tuple(traffic), shape.duration, shape.warm_up, seed, sysctls=ROOMY, sample=0.5,
        measure=Turns(began, began + LASTS),
        receiver=Receiver("tide") if world == "both-ways" and chosen.congestion_control == "netnice" else None,
    )  # fmt: skip
    return finish(made, chosen)


def line(world: str) -> str:
    """The first world with the same line and times: what a foreground has there alone, it has in this one."""

    def seen(shape: Shape) -> tuple[Pipe, Pipe, float, float]:
        return shape.line, shape.back, shape.warm_up, shape.duration

    return next(name for name, shape in SHAPES.items() if seen(shape) == seen(SHAPES[world]))


def exists(cell: Cell) -> bool:
    """A foreground without any background once a line; on slow lines the foreground is a game."""
    world, beside = str(cell["world"]), cell["beside"]
    if world in SLOW_LINES and beside == "documents":
        return False
    return cell["protocol"] != "none" or (line(world) == world and (beside != "nothing" or world in SLOW_LINES))


LINES = {*POLICERS, *SLOW_LINES, "both-ways"}
"""Worlds that are about a line: their bars are lower, or known to be missed."""


def bars(world: str) -> list[Bar]:
    """Alone as fast as CUBIC; documents wait no longer than beside one that always has data; it yields, and returns."""
    alone: Cell = {"protocol": "netnice", "world": world, "beside": "nothing"}
    documents, beside = {**alone, "beside": "documents"}, {**alone, "beside": "long"}
    none: Cell = {"protocol": "none", "world": line(world), "beside": "long"}

    def hold(
        says: str, metric: str, cell: Cell, over: Cell | None = None,
        low: float | None = None, high: float | None = None,
    ) -> Bar:  # fmt: skip
        return misses.bar(MISSES["programs"], f"{says} {world}", metric, cell, over, low, high)

    least = 0.75 if world in SLOW_LINES else 0.95
    found = [
        hold("gives way, of the long flow's", "kept_rate", beside, none, low=0.9),
        hold("comes back, of its own", "back_rate", beside, alone, low=0.9),
    ]
    if world == "both-ways":
        found.append(hold("uploads beside its own downloads / alone", "busy", alone,
                          {**alone, "world": "always"}, low=0.7))  # fmt: skip
    else:
        found.append(hold("goodput alone / CUBIC's", "busy", alone, {**alone, "protocol": "cubic"}, low=least))
    if world not in LINES and line(world) != world:
        found.append(hold("documents beside it / beside one that always has data", "latency", documents,
                          {**documents, "world": line(world)}, high=1.02))  # fmt: skip
    if world in SLOW_LINES:
        packets = 3 * 1500 * 8e3 / SHAPES[world].line.rate
        found.append(hold("the game's p95, ms", "udp_p95", alone, high=RTT / 2e3 + packets))
    if SHAPES[world].far:
        found += [
            hold("the slow client's RTT, ms", "slow_rtt", alone, high=150),
            hold("the slow client's goodput / CUBIC's", "slow", alone, {**alone, "protocol": "cubic"}, low=0.95),
        ]
    return found


MISSES["programs"] = misses.read(
    {
        "{mean}: at a policer nothing tells that another flow has ended, so it waits, longer each time it lost": """
            comes back, of its own: policer-32k policer-1m
        """,
        "{mean}; eight seeds have .90: each try to return costs the other flow a loss": """
            gives way, of the long flow's: policer-32k
        """,
        "{mean}: 9.5 Mbit/s, all that the line has; alone the long flow has the bucket of 4 MB, too": """
            gives way, of the long flow's: kubernetes
        """,
        "a full packet takes 34 ms, or 16, and each of four flows keeps one": """
            comes back, of its own: slow-0.35
            the game's p95, ms: slow-0.35 slow-0.75
        """,
    }
)
EXPERIMENTS["programs"] = Experiment(
    title="What programs do with their connections, at 20 Mbit/s and 40 ms",
    claim="Not in the papers: their senders always have data, and a host has one kind of connection.",
    sweep={
        "protocol": ("none", "cubic", "netnice"), "world": tuple(SHAPES), "beside": ("nothing", "documents", "long"),
    },
    scenario=lambda protocol, world, beside, seed: scenario(protocol, world, beside, seed),
    exists=exists,
    figures=[Figure("world", "busy", "protocol", "", "goodput, Mbit/s", panel="beside")],
    seeds=2,
    quick={"world": ("always", "idle-15", "dual-stack", "dead-6")},
    pinned={"busy": 0.1, "latency": 0.1},
    bars=[bar for world in SHAPES for bar in bars(world)],
)  # fmt: skip
