# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""More connections than a line has packets: model hubs and image layers by 64 connections, uploads on slow lines."""

from dataclasses import dataclass

import numpy as np

from experiments.frontier import many_users
from experiments.lines.real import FEW_SEEDS, SEEDS, in_order, parts
from experiments.low_priority.access import ROOMY
from experiments.programs import GAME
from netnice_lab.judgement import misses
from netnice_lab.measures.over_time import acknowledged
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.foreground import DRAIN
from netnice_lab.model.output import Sampled
from netnice_lab.model.protocols import protocol
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology, dumbbell
from netnice_lab.model.traffic import Bulk, Datagrams, Documents, Traffic

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

DURATION, WARM_UP = 90.0, 20.0
LOAD = 0.25


@dataclass(frozen=True)
class Fed:
    """How long one of the connections had nothing, and the least of them, of the mean."""

    begins: float

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Seconds, and a part."""
        times = np.arange(self.begins, sampled.end, 1.0)
        longest, totals = 0.0, []
        for number in sampled.groups.get("background", []):
            had = acknowledged(sampled.flow, [number], times)
            moves = np.flatnonzero(np.diff(had))
            edges = np.concatenate([[0], moves + 1, [len(times) - 1]])
            longest = max(longest, float(np.diff(edges).max()))
            totals.append(float(had[-1] - had[0]))
        if not totals or not any(totals):
            return {}
        return {"starved": longest, "least": min(totals) / (sum(totals) / len(totals))}


PATHS = {
    "10": (10_000_000, 40_000), "100": (100_000_000, 40_000), "20": (20_000_000, 60_000), "50": (50_000_000, 30_000)
}  # fmt: skip


def many(name: str, path: str, flows: int, beside: bool, seed: int) -> Scenario:
    """Downloads, whose receiver yields with netnice, perhaps beside documents."""
    chosen, (rate, rtt) = protocol(name), PATHS[path]
    queue = Queue("priority" if chosen.priority else "fifo", bytes=round(rate / 8 * rtt / 1e6))
    yields = name == "netnice"
    traffic: list[Traffic] = []
    if beside:
        traffic.append(Documents("www", "home", many_users(LOAD * rate, DURATION - DRAIN, seed), "cubic"))
    if not chosen.none:
        control = "cubic" if yields else chosen.congestion_control
        traffic.append(Bulk("bulk", "home", flows, control, (0.5, 3.0), group="background", receiver=yields))
    made = Scenario(
        dumbbell(rate, rtt, queue), tuple(traffic), DURATION, WARM_UP, seed, sysctls=ROOMY, sample=0.5,
        measure=Fed(WARM_UP), receiver=Receiver("tide") if yields else None,
    )  # fmt: skip
    return finish(made, chosen)


def is_run(cell: Cell) -> bool:
    """The documents alone once a path; without documents only what the bars name."""
    if cell["protocol"] == "none":
        return cell["flows"] == 16 and bool(cell["beside"])
    return bool(cell["beside"]) or cell["protocol"] in {"priority", "cubic", "netnice"}


SLOWER, USED, FEEDS = 1.2, 0.85, 30.0


def many_bars(path: str) -> list[Bar]:
    """Documents; the line; none starved."""
    made: list[Bar] = []
    none: Cell = {"protocol": "none", "path": path}
    for flows in (16, 32, 64):
        cell: Cell = {"protocol": "netnice", "path": path, "flows": flows, "beside": True}
        alone: Cell = {**cell, "beside": False}
        made += [
            Bar(f"documents beside {flows} / alone {path}", "latency_geometric", cell, none, maximum=SLOWER),
            Bar(f"{flows} alone, of the line {path}", "background", alone, minimum=USED * PATHS[path][0] / 1e6),
            Bar(f"{flows} alone, s without a byte {path}", "starved", alone, maximum=FEEDS),
        ]
    return made


MISSES["real-crowds"] = misses.read(
    {
        "{mean}: so many single segments are a queue": """
            documents beside 64 / alone: 10
        """,
    }
)

EXPERIMENTS["real-crowds"] = Experiment(
    title="16, 32 and 64 downloads at once, alone and beside documents that take a quarter of the line",
    claim="Not in the papers. The bars: documents 1.2 of alone; .85 of the line; none without a byte for 30 s.",
    sweep={
        "protocol": ("none", "priority", "cubic", "bbr", "nice", "nnledbatpp", "nnlp", "netnice"),
        "path": tuple(PATHS),
        "flows": (16, 32, 64), "beside": (True, False),
    },
    scenario=lambda protocol, path, flows, beside, seed: many(protocol, path, flows, beside, seed),
    exists=is_run,
    derive=lambda frame: in_order(frame, "path", "flows").assign(
        slower=parts(frame, "latency_geometric", ("path",), {"protocol": "none"}),
        used=(frame.background * 1e6 / frame.path.map(lambda path: PATHS[path][0])).mask(frame.beside.astype(bool)),
        waits=frame.starved.mask(frame.beside.astype(bool)),
    ),
    figures=[
        Figure(
            "flows", "slower", "protocol", "downloads", "documents, times as long as alone", log_y=True, panel="path"
        )
    ],
    tables=[
        Table("crowds", ("path", "flows"), "protocol",
              [Number("slower", 2, most=SLOWER), Number("used", 2, least=USED), Number("waits", 0, most=FEEDS)])
    ],
    seeds=FEW_SEEDS,
    pinned={"background": 0.1},
    bars=misses.marked(MISSES["real-crowds"], [bar for path in PATHS for bar in many_bars(path)]),
)  # fmt: skip

FROM = 5.0
RTT = 40_000
SLOW = {"350k": 350_000, "750k": 750_000, "1500k": 1_500_000, "500k": 500_000}


def playing(name: str, line: str, game: bool, seed: int) -> Scenario:
    """Four uploads on a slow line with 64 kB of buffer, beside a game from the beginning on."""
    chosen, rate = protocol(name), SLOW[line]
    queue = Queue("priority" if chosen.priority else "fifo", bytes=64_000)
    network = Topology(
        ("www", "bulk", "home"),
        ("router",),
        (
            Link("www", "router", back=Pipe(delay=RTT)),
            Link("bulk", "router", back=Pipe(delay=RTT)),
            Link("router", "home", forward=Pipe(rate, queue)),
        ),
    )
    traffic: list[Traffic] = []
    if not chosen.none:
        traffic.append(Bulk("bulk", "home", 4, chosen.congestion_control, (0.1, 0.5), group="background"))
    if game:
        tos = 0x10 if chosen.priority else 0
        traffic.append(Datagrams("www", "home", 30 * 8 * GAME, FROM, 60.0, packet=GAME, tos=tos))
    return finish(Scenario(network, tuple(traffic), 60.0, FROM, seed, sysctls=ROOMY), chosen)


LATE, FULL = 108.0, 0.75
"""ms in queues at 350 kbit/s, where a full packet takes 35; and the part of the line."""


def slow_bars(line: str) -> list[Bar]:
    """The game waits for three packets more at most; without it the line is used."""
    cell: Cell = {"protocol": "netnice", "line": line, "game": True}
    most = LATE * SLOW["350k"] / SLOW[line]
    return [
        Bar(f"the game's p95, ms {line}", "udp_p95", cell, maximum=most),
        Bar(f"the line without it {line}", "background", {**cell, "game": False}, minimum=FULL * SLOW[line] / 1e6),
    ]


MISSES["real-slow"] = misses.read(
    {
        "{mean} ms: four flows with a segment each are four packets; nothing smaller is sent": """
            the game's p95, ms: 350k 750k 1500k 500k
        """,
    }
)

EXPERIMENTS["real-slow"] = Experiment(
    title="Four uploads on slow lines, beside a game that sends 30 packets a second",
    claim="Not in the papers. The bar at 350 kbit/s: a p95 of 108 ms in queues from 5 s on; .75 of the line.",
    sweep={
        "protocol": ("none", "priority", "cubic", "bbr", "nice", "nnledbat", "nnledbatpp", "nnlp", "netnice"),
        "line": tuple(SLOW), "game": (True, False),
    },
    scenario=lambda protocol, line, game, seed: playing(protocol, line, game, seed),
    exists=lambda cell: cell["protocol"] != "none" or bool(cell["game"]),
    figures=[Figure("rate", "late", "protocol", "kbit/s", "the game's p95 in queues, ms", log_y=True)],
    derive=lambda frame: frame.assign(
        rate=frame.line.map(SLOW) / 1000,
        used=(frame.background * 1e6 / frame.line.map(SLOW)).mask(frame.game.astype(bool)),
        late=frame.udp_p95.where(frame.game.astype(bool)),
    ),
    tables=[Table("slow", ("line",), "protocol", [Number("late", 0), Number("used", 2, least=FULL)])],
    seeds=SEEDS,
    pinned={"udp_p95": 0.2},
    bars=misses.marked(MISSES["real-slow"], [bar for line in SLOW for bar in slow_bars(line)]),
)  # fmt: skip
