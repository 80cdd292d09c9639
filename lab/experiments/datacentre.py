# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A data centre: 10 Gbit/s, 100 us, a switch's buffer of 500 kB, with and without ECN. Queues there are below 1 ms."""

from dataclasses import dataclass

import pandas as pd

from netnice_lab.judgement import misses
from netnice_lab.measures.over_time import goodput
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.output import Sampled
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

RATE, RTT_US, BUFFER = 10_000_000_000, 100, 500_000
START, SETTLED, END = 0.2, 0.6, 1.2
"""Seconds: when the background starts, from when and until when goodput is measured."""
FLOWS = (0, 1, 16)


@dataclass(frozen=True)
class Kept:
    """Goodput of the foreground in Mbit/s, and the part of the link that is used, settled."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """After SETTLED seconds."""
        flows = [number for numbers in sampled.groups.values() for number in numbers]
        return {
            "upper": goodput(sampled.flow, sampled.groups["upper"], SETTLED, END),
            "filled": goodput(sampled.flow, flows, SETTLED, END) / (RATE / 1e6 * 1448 / 1514),
        }


def scenario(foreground: str, ecn: str, flows: int, seed: int) -> Scenario:
    """One flow, and as many of netnice beside it. With ECN a RED queue marks from a third of the buffer on."""
    queue = Queue("red" if ecn == "on" else "fifo", bytes=BUFFER, ecn=ecn == "on", average_packet=1514)
    traffic = [Bulk("www", "home", 1, foreground, (0.01, 0.02), group="upper")]
    if flows:
        traffic.append(Bulk("bulk", "home", flows, "netnice", (START, START + 0.1), group="lower"))
    windows = "4096 4194304 16777216"
    return Scenario(
        dumbbell(RATE, RTT_US, queue), tuple(traffic), END, SETTLED, seed,
        sysctls=(("ipv4/tcp_rmem", windows), ("ipv4/tcp_wmem", windows), ("ipv4/tcp_ecn", "1" if ecn == "on" else "0")),
        sample=0.02, measure=Kept(),
    )  # fmt: skip


def exists(cell: Cell) -> bool:
    """DCTCP needs marks; netnice is measured alone."""
    return (cell["ecn"] == "on" or cell["foreground"] != "dctcp") and not (
        cell["flows"] and cell["foreground"] == "netnice"
    )


def kept(frame: pd.DataFrame) -> pd.DataFrame:
    """Beside netnice, the foreground's goodput as a part of what it has alone."""
    by = ["foreground", "ecn", "seed"]
    alone = frame[frame.flows == 0].set_index(by).upper.rename("alone")
    joined = frame.join(alone, on=by)
    return joined.assign(kept=joined.upper / joined.alone)


def bars(ecn: str) -> list[Bar]:
    """Foregrounds keep .95 of alone; netnice alone has .9 of CUBIC's."""

    def hold(says: str, cell: Cell, over: Cell, low: float) -> Bar:
        of: Cell = {"ecn": ecn, "flows": 0}
        return misses.bar(MISSES["datacentre"], f"{says} ecn-{ecn}", "upper", of | cell, of | over, low)

    found = [hold("alone", {"foreground": "netnice"}, {"foreground": "cubic"}, 0.9)]
    for name in ("cubic", "bbr", "dctcp"):
        found += [
            hold(f"{name} beside {flows}", {"foreground": name, "flows": flows}, {"foreground": name}, 0.95)
            for flows in FLOWS[1:]
            if exists({"foreground": name, "ecn": ecn, "flows": flows})
        ]
    return found


MISSES["datacentre"] = misses.read(
    {
        "its queues are below the 2 ms that may be a timer's noise: beside others netnice is Reno there": """
            cubic beside 1: ecn-off ecn-on
            cubic beside 16: ecn-off ecn-on
            bbr beside 1: ecn-off
            bbr beside 16: ecn-off ecn-on
            dctcp beside 1: ecn-on
            dctcp beside 16: ecn-on
        """,
    }
)
EXPERIMENTS["datacentre"] = Experiment(
    title="A data centre: 10 Gbit/s, 100 us, a buffer of 500 kB",
    claim="Not in the papers. Queues of a data centre are shorter than a timer's noise, 1 ms on any path.",
    sweep={"foreground": ("cubic", "bbr", "dctcp", "netnice"), "ecn": ("off", "on"), "flows": FLOWS},
    scenario=scenario,
    exists=exists,
    figures=[Figure("flows", "kept", "foreground", "netnice flows", "the foreground's goodput, of alone", panel="ecn")],
    tables=[Table("datacentre", ("foreground", "flows"), "ecn", [Number("upper", 0), Number("filled")])],
    derive=kept,
    seeds=2,
    quick={"foreground": ("cubic",), "flows": (0, 1)},
    pinned={"upper": 0.1},
    bars=[bar for ecn in ("off", "on") for bar in bars(ecn)],
)
