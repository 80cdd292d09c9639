# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Policers: loss without delay, beyond a rate and a burst; and Kubernetes' shaper, with a burst and a queue.

One flow of CUBIC comes to 1, 4 or 16 in the background and has what they leave. `sends`: netnice is their sender;
`receives`: their receiver, and their servers run CUBIC or BBR.
"""

from experiments.lines.real import SCAVENGERS, SEEDS, in_order, parts
from experiments.low_priority.access import ROOMY
from experiments.programs import POLICED, POLICERS
from netnice_lab.judgement import misses
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.protocols import protocol
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Traffic

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

DURATION, WARM_UP, COMES = 60.0, 20.0, (5.0, 6.0)


def policer(rate: int, burst: int) -> Pipe:
    """Drops what is beyond both."""
    return Pipe(rate, Queue("fifo", packets=1), burst=burst)


LINES = {
    "burst-32k": (POLICERS["policer-32k"], 40_000),
    "burst-125k": (policer(POLICED, 125_000), 40_000),
    "burst-1m": (POLICERS["policer-1m"], 40_000),
    "kubernetes": (POLICERS["kubernetes"], 25_000),
    "burst-500k": (policer(50_000_000, 500_000), 20_000),
}
WAYS = ("sends", "receives-cubic", "receives-bbr")


def beside(name: str, line: str, way: str, flows: int, other: bool, seed: int) -> Scenario:
    """Flows of the background, and perhaps a long flow of CUBIC."""
    chosen, (pipe, rtt) = protocol(name), LINES[line]
    network = Topology(
        ("www", "bulk", "home"),
        ("router",),
        (
            Link("www", "router", back=Pipe(delay=rtt)),
            Link("bulk", "router", back=Pipe(delay=rtt)),
            Link("router", "home", forward=pipe),
        ),
    )
    yields = way != "sends" and name == "netnice"
    control = way.removeprefix("receives-") if way != "sends" else chosen.congestion_control
    traffic: list[Traffic] = []
    if not chosen.none:
        traffic.append(Bulk("bulk", "home", flows, control, (0.5, 1.5), group="background", receiver=yields))
    if other:
        traffic.append(Bulk("www", "home", 1, "cubic", COMES, group="foreground"))
    made = Scenario(
        network, tuple(traffic), DURATION, WARM_UP, seed, sysctls=ROOMY,
        receiver=Receiver("tide") if yields else None,
    )  # fmt: skip
    return finish(made, chosen)


def exists(cell: Cell) -> bool:
    """The long flow alone once a line; receivers are netnice's."""
    if cell["protocol"] == "none":
        return cell["way"] == "sends" and cell["flows"] == 1 and bool(cell["other"])
    return cell["way"] == "sends" or cell["protocol"] == "netnice"


KEEPS, ALONE = 0.9, 0.8


def bars(line: str) -> list[Bar]:
    """The long flow keeps what it has alone; without it, most of what CUBIC has."""
    made: list[Bar] = []
    none: Cell = {"protocol": "none", "line": line}
    for way in WAYS:
        for flows in (1, 4, 16):
            cell: Cell = {"protocol": "netnice", "line": line, "way": way, "flows": flows, "other": True}
            alone: Cell = {**cell, "other": False}
            plain: Cell = {**alone, "protocol": "cubic", "way": "sends"}
            made += [
                Bar(f"keeps, {way}, {flows} {line}", "foreground", cell, none, minimum=KEEPS),
                Bar(f"alone, of CUBIC's, {way}, {flows} {line}", "background", alone, plain, minimum=ALONE),
            ]
    return made


MISSES["real-policers"] = misses.read(
    {
        "{mean}: only own losses tell of the other flow, and each try to return costs it some": """
            keeps, sends, 1: burst-32k burst-500k
            keeps, sends, 16: burst-32k burst-125k burst-500k
            keeps, sends, 4: burst-500k
        """,
        "{mean}: what siblings lose looks like another flow's loss, and they return in turns": """
            alone, of CUBIC's, sends, 4: burst-32k burst-125k burst-1m burst-500k
            alone, of CUBIC's, sends, 16: burst-32k burst-125k burst-1m burst-500k
            alone, of CUBIC's, receives-cubic, 4: burst-32k burst-125k burst-500k
            alone, of CUBIC's, receives-bbr, 4: burst-32k burst-125k burst-500k
            alone, of CUBIC's, receives-bbr, 16: burst-32k burst-500k
        """,
        "{mean}: once in 48 rounds a higher rate is tried, and what is lost then costs the server a recovery": """
            alone, of CUBIC's, receives-cubic, 1: burst-125k burst-500k
            alone, of CUBIC's, receives-bbr, 1: burst-500k
        """,
        "{mean}: a server's burst after a cut cannot be taken back, and downloads of a host return one by one": """
            keeps, receives-cubic, 1: burst-32k burst-1m burst-500k
            keeps, receives-cubic, 4: burst-32k burst-125k burst-1m burst-500k
            keeps, receives-cubic, 16: burst-32k burst-125k burst-1m burst-500k
            keeps, receives-bbr, 1: burst-32k burst-125k burst-1m burst-500k
            keeps, receives-bbr, 4: burst-32k burst-125k burst-1m burst-500k
            keeps, receives-bbr, 16: burst-32k burst-125k burst-1m burst-500k
        """,
    }
)

EXPERIMENTS["real-policers"] = Experiment(
    title="Policers and a shaper with a burst: a long flow of CUBIC beside 1, 4 and 16 in the background",
    claim="Not in the papers. The bars: the long flow keeps .9 of alone; alone they have .8 of CUBIC's.",
    sweep={
        "protocol": ("none", "cubic", "bbr", *SCAVENGERS), "line": tuple(LINES), "way": WAYS, "flows": (1, 4, 16),
        "other": (True, False),
    },
    scenario=lambda protocol, line, way, flows, other, seed: beside(protocol, line, way, flows, other, seed),
    exists=exists,
    derive=lambda frame: in_order(frame, "line", "flows", "way").assign(
        keeps=parts(frame, "foreground", ("line",), {"protocol": "none"}).where(frame.other.astype(bool)),
        share=parts(
            frame, "background", ("line", "flows"), {"protocol": "cubic", "way": "sends", "other": False}
        ).mask(frame.other.astype(bool)),
        flavour=(frame.protocol + " " + frame.way).str.removesuffix(" sends"),
    ),
    figures=[Figure("flows", "keeps", "flavour", "flows", "what the long flow keeps of alone", panel="line")],
    tables=[
        Table("policers", ("line", "flows", "way"), "protocol",
              [Number("keeps", 2, least=KEEPS), Number("share", 2, least=ALONE)])
    ],
    seeds=SEEDS,
    pinned={"background": 0.2},
    bars=misses.marked(MISSES["real-policers"], [bar for line in LINES for bar in bars(line)]),
)  # fmt: skip
