# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which property of the world makes Reno and Vegas cost documents ten times their time: the paper's and today's.

The paper's documents came by ns-2's TCP of 2002, which differs from Linux in how it repairs losses. That is what a full
queue costs a short transfer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.tcp_nice.section4 import PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}

NO_PROBES = (("ipv4/tcp_early_retrans", "0"), ("ipv4/tcp_recovery", "0"), ("ipv4/tcp_frto", "0"))
NO_SACK = (*NO_PROBES, ("ipv4/tcp_sack", "0"))
SLOW_TIMER = (("ipv4/tcp_rto_min_us", "1000000"),)
"""ns-2's and RFC 2988's least retransmission timeout, a second; Linux has 0.2."""
OLD = (*NO_SACK, *SLOW_TIMER)
WORLDS = {
    "today": ({}, ()),
    "today with one connection a client": ({"persistent": True}, ()),
    "no loss probes": ({}, NO_PROBES),
    "no SACK either": ({}, NO_SACK),
    "a timeout of 1 s": ({}, SLOW_TIMER),
    "2002: none of these": ({"first_window": 1, "quick_acks": True}, OLD),
    "2002 with documents 2.5 times as large": (
        {"first_window": 1, "quick_acks": True, "browsing": (("think", 3.0), ("gap", 0.2))}, OLD,
    ),
    "2002 with one connection a client": ({"first_window": 1, "quick_acks": True, "persistent": True}, OLD),
    "2002 with half the demand": ({"first_window": 1, "quick_acks": True, "demand": 1_000_000}, OLD),
}  # fmt: skip
"""What section4.paper() takes, and the hosts' sysctls."""
WORSE = ("reno", "vegas-1-3", "vegas-0-0")
PAPERS = "2002 with one connection a client"
FRESH = (
    "{mean}: a document on a connection of its own waits for its own losses only; where a client's follow each other "
    "on one, those behind wait too, and it is 17"
)


def scenario(world: str, protocol: str, flows: int, seed: int) -> Scenario:
    """Section 4.1 at S = 1."""
    conditions, sysctls = WORLDS[world]
    made = paper(protocol, flows=flows, seed=seed, **conditions)  # type: ignore[arg-type]  # by name
    return replace(made, sysctls=(*made.sysctls, *sysctls))


def slowdowns(frame: pd.DataFrame) -> pd.DataFrame:
    """Latencies as multiples of router priority's in the same world."""
    keys = ["world", "flows", "seed"]
    ideal = frame[frame.protocol == "priority"].set_index(keys).latency.rename("ideal")
    rows = frame[frame.protocol != "priority"].join(ideal, on=keys)
    return rows.assign(slowdown=rows.latency / rows.ideal)


def bar(world: str, protocol: str, flows: int, least: float | None, most: float | None, reason: str = "") -> Bar:
    """Latency over router priority's."""
    cell: Cell = {"world": world, "protocol": protocol, "flows": flows}
    says = f"{world}, {flows} flows: {protocol} over priority"
    return Bar(says, "latency", cell, cell | {"protocol": "priority"}, least, most, not reason, reason)


EXPERIMENTS["nice-worlds"] = Experiment(
    title="Documents beside 16 and 64 flows, S = 1, over router priority's latency: today's TCP and that of 2002",
    claim="Reno and Vegas background flows slow documents by more than an order of magnitude, Nice by less than 10 %.",
    differs=PAPER_DIFFERS,
    sweep={"world": tuple(WORLDS), "protocol": ("priority", "nice-0.1", *WORSE), "flows": (16, 64)},
    scenario=scenario,
    figures=[
        Figure("flows", "slowdown", "protocol", "background flows", "latency over priority's", True, True, "world")
    ],
    tables=[Table("worlds", ("world", "flows"), "protocol", [Number("slowdown")])],
    derive=slowdowns,
    seeds=3,
    bars=[
        *(bar(PAPERS, name, flows, 10.0, None) for name in ("reno", "vegas-1-3") for flows in (16, 64)),
        *(bar("2002: none of these", name, 16, 10.0, None, FRESH) for name in ("reno", "vegas-1-3")),
        *(bar(world, "nice-0.1", 16, None, 1.10) for world in ("today", "2002: none of these", PAPERS)),
    ],
)
