# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A floor: connections that together have at least a rate, as `netnice --at-least RATE` gives them.

20 Mbit/s, 40 ms, a buffer of one BDP. Beside long CUBIC flows the floor is compared with as many CUBIC connections,
beside documents with one Reno flow that is limited to the floor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.frontier import today
from netnice_lab.measures.over_time import goodput
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table
from netnice_lab.model.protocols import protocol
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk

if TYPE_CHECKING:
    from netnice_lab.model.experiment import Cell
    from netnice_lab.model.output import Sampled

EXPERIMENTS: dict[str, Experiment] = {}

RATE, RTT = 20_000_000, 40_000
COMES, SETTLED, ENDS = 10.0, 15.0, 45.0
"""Seconds: when the long foreground comes, when the floor has to be met, and the end."""
FLOORS = (1, 5)
"""Mbit/s."""
CONNECTIONS = (1, 16)
WAYS = ("up", "down")
PART, SLOWER = 0.9, 1.05
YIELDS = ("floor", "netnice")


class Had:
    """What each group has from five seconds after the foreground came."""

    def __repr__(self) -> str:
        """The name in a run's key."""
        return "Had()"

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Mbit/s of each group."""
        return {name: goodput(sampled.flow, group, SETTLED, ENDS) for name, group in sampled.groups.items()}


def with_floor(scenario: Scenario, name: str, way: str, floor: int) -> Scenario:
    """The background yields down to a floor, or has none ("netnice"); what is plain TCP stays as it is."""
    if name not in YIELDS:
        return scenario
    kbits = (("at_least", floor * 1000 if name == "floor" else 0),)
    if way == "up":
        return replace(scenario, parameters=(("netnice", kbits),))
    traffic = tuple(
        replace(t, receiver=True) if isinstance(t, Bulk) and t.group == "background" else t for t in scenario.traffic
    )
    return replace(scenario, traffic=traffic, receiver=Receiver("tide", kbits))


def control(name: str, way: str) -> str:
    """The congestion control of the background's senders."""
    return name if name not in YIELDS else "netnice" if way == "up" else "cubic"


def beside_flows(kind: str, way: str, floor: int, flows: int, connections: int, seed: int) -> Scenario:
    """Long CUBIC flows come to a background that has the path."""
    chosen = protocol(control(kind, way))
    traffic = (
        Bulk("bulk", "home", connections, chosen.congestion_control, (0.1, 1.0), group="background"),
        Bulk("www", "home", flows, "cubic", (COMES, COMES + 0.5), group="foreground"),
    )
    network = dumbbell(RATE, RTT, Queue("fifo", bytes=RATE * RTT // 8_000_000))
    made = finish(Scenario(network, traffic, ENDS, 1.0, seed, sample=0.1, measure=Had()), chosen)
    return with_floor(made, kind, way, floor)


def beside_documents(kind: str, way: str, floor: int, connections: int, seed: int) -> Scenario:
    """Documents on half of the path, and a background: with a floor, or one Reno flow limited to it."""
    if kind == "limited":
        made = today("reno", flows=1, seed=seed)
        return replace(
            made, traffic=tuple(replace(t, rate=floor * 1_000_000) if isinstance(t, Bulk) else t for t in made.traffic)
        )
    return with_floor(today(control(kind, way), flows=connections, seed=seed), kind, way, floor)


ROUNDED = "× {mean}: the share of a sixteenth is rounded up to whole segments, or a single download had .7 of its floor"
TAKES_MORE = "× {mean}: as without a floor; the connections have 5.5 Mbit/s and more, where the limited flow has 1"


def met(way: str, floor: int, flows: int, connections: int) -> Bar:
    """The floor, or what as many CUBIC connections have where that is less."""
    ours: Cell = {"way": way, "floor": floor, "flows": flows, "connections": connections}
    says = f"{way}, floor {floor}, {connections} beside {flows}"
    if RATE * connections / (connections + flows) < floor * 1_000_000:
        plain = {**ours, "kind": "cubic", "way": WAYS[0], "floor": FLOORS[0]}
        return Bar(says, "background", {**ours, "kind": "floor"}, plain, minimum=PART)
    return Bar(says, "background", {**ours, "kind": "floor"}, minimum=PART * floor)


EXPERIMENTS["at-least-flows"] = Experiment(
    title="Connections with a floor of 1 and 5 Mbit/s on 20, from 5 s after long CUBIC flows came",
    claim="Not in the papers; Proteus-H has it for a sender. The bar: 0.9 of the floor, or of what CUBIC has there.",
    sweep={
        "kind": ("floor", "cubic"), "way": WAYS, "floor": FLOORS, "flows": (1, 8), "connections": CONNECTIONS,
    },
    scenario=beside_flows,
    exists=lambda cell: cell["kind"] == "floor" or (cell["way"] == "up" and cell["floor"] == FLOORS[0]),
    figures=[Figure("floor", "background", "connections", "floor, Mbit/s", "Mbit/s", panel="way")],
    tables=[Table("flows", ("kind", "way", "floor", "connections"), "flows", [Number("background", 2)])],
    seeds=5,
    pinned={"background": 0.10},
    bars=[
        met(way, floor, flows, connections)
        for way in WAYS for floor in FLOORS for flows in (1, 8) for connections in CONNECTIONS
    ],
)  # fmt: skip

EXPERIMENTS["at-least-documents"] = Experiment(
    title="Documents on half of 20 Mbit/s, beside connections with a floor, and beside a Reno flow limited to it",
    claim="Not in the papers. The bar: documents take no longer than beside the limited flow, and 5 %.",
    sweep={"kind": ("netnice", "floor", "limited"), "way": WAYS, "floor": FLOORS, "connections": CONNECTIONS},
    scenario=beside_documents,
    figures=[Figure("floor", "latency_geometric", "kind", "floor, Mbit/s", "latency of documents, ms")],
    tables=[Table("documents", ("kind", "way", "connections"), "floor", [
        Number("latency_geometric", 1), Number("background", 2),
    ])],
    seeds=5,
    pinned={"latency_geometric": 0.05, "background": 0.10},
    bars=[
        Bar(f"{way}, floor {floor}, {connections}", "latency_geometric",
            {"kind": "floor", "way": way, "floor": floor, "connections": connections},
            {"kind": "limited", "way": way, "floor": floor, "connections": connections}, maximum=SLOWER,
            holds=floor != 1 and (way, connections) != ("down", 16),
            reason=TAKES_MORE if floor == 1 else ROUNDED if (way, connections) == ("down", 16) else "")
        for way in WAYS for floor in FLOORS for connections in CONNECTIONS
    ],
)  # fmt: skip
