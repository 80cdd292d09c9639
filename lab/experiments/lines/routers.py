# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Routers that drop before their buffer is full, and routers with a queue for each flow, with and without the mark."""

from dataclasses import replace

import pandas as pd

from experiments.frontier import today
from experiments.lines.real import FEW_SEEDS, in_order, parts
from experiments.low_priority.access import ROOMY
from netnice_lab.judgement import misses
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk, Traffic

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

PATHS = {"20-40": (20.0, 40.0), "10-20": (10.0, 20.0), "50-60": (50.0, 60.0), "30-30": (30.0, 30.0)}
EARLY = ("red", "codel", "pie")
FLOWS = (4, 16)
SLOWER, SHARE = 1.1, 0.6


def early(name: str, path: str, queue: str, flows: int, seed: int) -> Scenario:
    """Documents on half of the path."""
    rate, rtt = PATHS[path]
    return today(name, rate=rate, rtt=rtt, buffer=2.0, queue=queue, flows=flows, seed=seed)


def early_bars(path: str) -> list[Bar]:
    """Documents, and the part of what is spare."""
    made: list[Bar] = []
    for queue in EARLY:
        for flows in FLOWS:
            cell: Cell = {"protocol": "netnice", "path": path, "queue": queue, "flows": flows}
            none: Cell = {"protocol": "none", "path": path, "queue": queue}
            spare: Cell = {**cell, "protocol": "priority"}
            made += [
                Bar(f"documents, {queue}, {flows} {path}", "latency_geometric", cell, none, maximum=SLOWER),
                Bar(f"of the spare, {queue}, {flows} {path}", "background", cell, spare, minimum=SHARE),
            ]
    return made


MISSES["real-early"] = misses.read(
    {
        misses.EDGE: "documents, pie, 4: 20-40",
        "{mean}: a packet is 6 % of the round trip there, and beside the oracle's background documents take 1.05": """
            documents, pie, 4: 10-20
            documents, red, 4: 10-20
            documents, codel, 4: 10-20
            documents, codel, 16: 10-20
            documents, pie, 16: 10-20
        """,
        "{mean}: 16 packets are the path's window, and a loss halves it": """
            of the spare, red, 4: 10-20
            of the spare, red, 16: 10-20
            of the spare, codel, 4: 10-20
            of the spare, codel, 16: 10-20
            of the spare, pie, 4: 10-20
            of the spare, pie, 16: 10-20
        """,
    }
)

EXPERIMENTS["real-early"] = Experiment(
    title="Routers that drop early: documents on half of the path, beside 4 and 16 uploads",
    claim="Not in the papers but for RED. The bars: documents 1.1 of alone; .6 of the spare.",
    sweep={
        "protocol": ("none", "priority", "cubic", "bbr", "nice", "nnledbatpp", "nnlp", "netnice"),
        "path": tuple(PATHS), "queue": EARLY, "flows": FLOWS,
    },
    scenario=lambda protocol, path, queue, flows, seed: early(protocol, path, queue, flows, seed),
    exists=lambda cell: cell["protocol"] != "none" or cell["flows"] == FLOWS[0],
    figures=[
        Figure(
            "share", "slower", "protocol", "of the spare", "documents, times as long as alone",
            panel="queue", kind="frontier",
        )
    ],
    derive=lambda frame: in_order(frame, "path", "queue", "flows").assign(
        slower=parts(frame, "latency_geometric", ("path", "queue"), {"protocol": "none"}),
        share=parts(frame, "background", ("path", "queue", "flows"), {"protocol": "priority"}),
    ),
    tables=[
        Table("early", ("path", "queue", "flows"), "protocol",
              [Number("slower", 2, most=SLOWER), Number("share", 2, least=SHARE)])
    ],
    seeds=FEW_SEEDS,
    pinned={"latency_geometric": 0.1, "background": 0.1},
    bars=misses.marked(MISSES["real-early"], [bar for path in PATHS for bar in early_bars(path)]),
)  # fmt: skip

LE = 0x04
"""DSCP 1 in the octet of an IP header."""
BY_FLOW = ("fq_codel", "cake", "cake-diffserv3", "cake-diffserv4")
HEEDS = {"cake-diffserv3", "cake-diffserv4"}
DURATION, WARM_UP = 60.0, 15.0
MARKED, UNMARKED = 0.95, 0.8


def by_flow(name: str, path: str, queue: str, flows: int, marked: bool, seed: int) -> Scenario:
    """A long flow of CUBIC beside some in the background."""
    chosen, (rate, rtt) = protocol(name), PATHS[path]
    size = round(2 * rate * rtt * 1e3 / 8)
    network = dumbbell(int(rate * 1e6), int(rtt * 1e3), Queue(queue, bytes=size, average_packet=1514))
    traffic: list[Traffic] = [Bulk("www", "home", 1, "cubic", (5.0, 6.0), group="foreground")]
    if not chosen.none:
        some = Bulk("bulk", "home", flows, chosen.congestion_control, (0.5, 1.5), group="background")
        traffic.append(replace(some, tos=LE) if marked else some)
    return finish(Scenario(network, tuple(traffic), DURATION, WARM_UP, seed, sysctls=ROOMY), chosen)


def kept_where_heeded(frame: pd.DataFrame) -> pd.DataFrame:
    """What the long flow keeps. Unmarked traffic meets CAKE as if it had no classes: those rows are left out."""
    keeps = parts(frame, "foreground", ("path", "queue"), {"protocol": "none"})
    heeded = frame.queue.isin(HEEDS) == frame.marked.astype(bool)
    return in_order(frame.assign(keeps=keeps)[heeded], "path", "queue", "flows")


def is_run(cell: Cell) -> bool:
    """The long flow alone once a router; the mark where it is to show what it is worth without netnice, too."""
    if cell["protocol"] == "none":
        return cell["flows"] == 1 and not cell["marked"]
    return not cell["marked"] or cell["protocol"] in {"cubic", "netnice"}


def by_flow_bars(path: str) -> list[Bar]:
    """The long flow keeps what it has alone: by the mark, or because netnice sees its own queue."""
    made: list[Bar] = []
    for queue in BY_FLOW:
        for flows in (1, 4):
            for marked in (True, False):
                cell: Cell = {"protocol": "netnice", "path": path, "queue": queue, "flows": flows, "marked": marked}
                none: Cell = {"protocol": "none", "path": path, "queue": queue}
                least = MARKED if marked and queue in HEEDS else UNMARKED
                says = f"keeps, {queue}, {flows}{', marked' if marked else ''} {path}"
                made.append(Bar(says, "foreground", cell, none, minimum=least))
    return made


MISSES["real-by-flow"] = misses.read(
    {
        "{mean}: a flow's queue is its own there; beside CUBIC's flows the long one has as little": """
            keeps, fq_codel, 1, marked: 20-40 10-20 50-60 30-30
            keeps, fq_codel, 1: 20-40 10-20 50-60 30-30
            keeps, fq_codel, 4, marked: 20-40 10-20 50-60 30-30
            keeps, fq_codel, 4: 20-40 10-20 50-60 30-30
            keeps, cake, 1, marked: 20-40 10-20 50-60 30-30
            keeps, cake, 1: 20-40 10-20 50-60 30-30
            keeps, cake, 4, marked: 20-40 10-20 50-60 30-30
            keeps, cake, 4: 20-40 10-20 50-60 30-30
            keeps, cake-diffserv3, 1: 20-40 10-20 50-60 30-30
            keeps, cake-diffserv3, 4: 20-40 10-20 50-60 30-30
            keeps, cake-diffserv4, 1: 20-40 10-20 50-60 30-30
            keeps, cake-diffserv4, 4: 20-40 10-20 50-60 30-30
        """,
        "{mean}: CAKE lets the class of background have a sixteenth of the rate at any time": """
            keeps, cake-diffserv3, 4, marked: 20-40
            keeps, cake-diffserv4, 4, marked: 20-40
        """,
    }
)

EXPERIMENTS["real-by-flow"] = Experiment(
    title="Routers with a queue for each flow: a long flow of CUBIC beside one and four in the background",
    claim="Not in the papers. The bars: .95 of alone where the router heeds the mark, .8 elsewhere.",
    sweep={
        "protocol": ("none", "cubic", "bbr", "nice", "nnledbatpp", "nnlp", "netnice"), "path": tuple(PATHS),
        "queue": BY_FLOW, "flows": (1, 4), "marked": (True, False),
    },
    scenario=lambda protocol, path, queue, flows, marked, seed: by_flow(protocol, path, queue, flows, marked, seed),
    exists=is_run,
    derive=kept_where_heeded,
    figures=[Figure("queue", "keeps", "protocol", "", "what the long flow keeps of alone", panel="path")],
    tables=[
        Table("by-flow", ("path", "queue", "flows"), "protocol", [Number("keeps", 2, least=UNMARKED)])
    ],
    seeds=FEW_SEEDS,
    pinned={"foreground": 0.1},
    bars=misses.marked(MISSES["real-by-flow"], [bar for path in PATHS for bar in by_flow_bars(path)]),
)  # fmt: skip
