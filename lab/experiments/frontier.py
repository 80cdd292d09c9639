# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The frontier: a background's part of the spare capacity, and what it adds to documents' latency, on today's paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from netnice_lab.judgement import misses
from netnice_lab.model.background import background, finish
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table, Value
from netnice_lab.model.foreground import DRAIN, poisson
from netnice_lab.model.protocols import Protocol, protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Documents

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}
"""Bars that are not met, by experiment: added or used, CONDITION …"""

TODAY_DIFFERS = "Poisson documents of 16 kB on average, bounded Pareto, over fresh CUBIC connections."


def today(
    name: str | Protocol,
    rate: float = 20.0,
    rtt: float = 40.0,
    buffer: float = 1.0,
    queue: str = "fifo",
    flows: int = 16,
    load: float = 0.5,
    seed: int = 1,
    persistent: bool = False,
    duration: float = 60.0,
    foreground: str = "cubic",
) -> Scenario:
    """1448-byte segments, documents (CUBIC's) filling `load` of a link of `rate` Mbit/s and `rtt` ms."""
    chosen = protocol(name) if isinstance(name, str) else name
    capacity, microseconds = int(rate * 1e6), int(rtt * 1e3)
    size = max(6000, round(buffer * capacity * microseconds / 1e6 / 8))
    discipline = Queue("priority" if chosen.priority else queue, bytes=size, average_packet=1514)
    topology = dumbbell(capacity, microseconds, discipline)
    documents = many_users(load * capacity, duration - DRAIN / 2, seed)
    pages = Documents("www", "home", documents, foreground, persistent=persistent)
    traffic = (pages, *background(chosen, flows, (1 - load) * capacity))
    return finish(Scenario(topology, traffic, duration, 10.0, seed), chosen)


many_users = cache(poisson)
NICE = ("nice-0.05", "nice-0.1", "nice-0.2", "nice-0.4")
CURVES = {
    "nice by threshold": NICE,
    "netnice's levels": ("netnice", "netnice1", "netnice2"),
    "a rate limit": ("reno-at-10", "reno-at-30", "reno-at-50", "reno-at-70", "reno-at-90"),
}
POINTS = ("cubic", "bbr", "vegas-1-3", "lp", "nnlp", "nnledbat", "nnledbatpp")
PROTOCOLS = ("none", "priority", *(name for names in CURVES.values() for name in names), *POINTS)
LIMIT = {30: 2, 60: 7, 70: 10, 80: 16}
"""Per cent of the spare and of latency: the best of some thousand random laws that see the queue a round trip late, in
a packet simulation of 20 Mbit/s, 40 ms and a buffer of a BDP."""
MORE = "it uses more than three fifths, and the modelled limit adds 10 % at 70 %, 16 % at 80 %"
FEW_PACKETS = (
    "the path and its buffer hold few packets, a document's first ten are most of them: two of ours are in their way, "
    "and more than two are too many"
)
ALONE = "one flow sees the queue once in each of its rounds, and what it left it takes again by a segment a round"
BY_FLOW = "who has a queue of his own sees nobody's: flows take what is theirs, as all of them do"
MOST_ADDED, LEAST_USED = 1.10, 0.60
DIFFERS = (
    "The spare is what the priority queue's background finds; latency is the documents' geometric mean, over that "
    "without a background."
)


def front(frame: pd.DataFrame, key: Sequence[str], limit: bool = False) -> pd.DataFrame:
    """Per cent of the spare `used` and of latency `added`, by condition and seed."""
    import pandas as pd

    by = [*key, "seed"]
    alone = frame[frame.protocol == "none"].set_index(by).latency_geometric.rename("alone")
    spare = frame[frame.protocol == "priority"].set_index(by).background.rename("spare")
    rows = frame[~frame.protocol.isin(["none"])].join(alone, on=by).join(spare, on=by)
    rows = rows.assign(
        used=100 * rows.background / rows.spare, added=100 * (rows.latency_geometric / rows.alone - 1)
    ).copy()
    curve = {name: curve for curve, names in CURVES.items() for name in names}
    rows["of_nice"] = of_nice(rows, by)
    rows["curve"] = rows.protocol.map(curve).fillna(rows.protocol)
    if not limit:
        return rows
    best = pd.DataFrame(
        {"used": list(LIMIT), "added": list(LIMIT.values()), "protocol": None, "curve": "modelled limit"}
    )
    conditions = frame[list(key)].drop_duplicates()
    return pd.concat([rows, conditions.merge(best, how="cross")], ignore_index=True)


def of_nice(rows: pd.DataFrame, by: Sequence[str]) -> pd.Series[float]:
    """What the paper's Nice adds where its threshold makes it use as much as netnice: between its points, else none."""
    import pandas as pd

    points = rows[rows.protocol.isin(NICE)].sort_values("used")
    curves = {condition: (one.used.to_numpy(), one.added.to_numpy()) for condition, one in points.groupby(list(by))}
    ours = rows[rows.protocol == "netnice"]
    found = [
        float(np.interp(row.used, *curves[tuple(row[key] for key in by)], left=np.nan, right=np.nan))
        for _, row in ours.iterrows()
    ]
    return pd.Series(found, ours.index, dtype=float)


def figure(panel: str) -> Figure:
    """Right and down is better."""
    return Figure("used", "added", "curve", "of the spare used, %", "latency added, %", panel=panel, kind="frontier")


def tables(name: str, column: str, **only: Value) -> list[Table]:
    """A row a protocol; and netnice's again, beside what the paper's Nice adds at that use."""
    numbers = [Number("used", 0), Number("added", 0)]
    return [
        Table(name, ("protocol",), column, numbers, only),
        Table(f"{name}-nice", ("protocol",), column, [*numbers, Number("of_nice", 0)], {**only, "protocol": "netnice"}),
    ]


def bars(known: Mapping[str, str], says: str, cell: Mapping[str, Value]) -> list[Bar]:
    """Three fifths of the spare, for a tenth of latency."""
    ours, alone, priority = ({"protocol": name, **cell} for name in ("netnice", "none", "priority"))
    return [
        misses.bar(known, f"added {says}", "latency_geometric", ours, alone, maximum=MOST_ADDED),
        misses.bar(known, f"used {says}", "background", ours, priority, minimum=LEAST_USED),
    ]


MISSES["frontier-flows"] = misses.read({MORE: "added: x16 x100", ALONE: "used: x1"})
EXPERIMENTS["frontier-flows"] = Experiment(
    title="Latency added against spare used: 20 Mbit/s, 40 ms, a buffer of a BDP, documents on half the link",
    claim="Not in the papers, which show one point of each.",
    differs=f"{TODAY_DIFFERS} {DIFFERS}",
    sweep={"protocol": PROTOCOLS, "flows": (1, 4, 16, 100)},
    scenario=lambda protocol, flows, seed: today(protocol, flows=flows, seed=seed),
    figures=[figure("flows")],
    tables=tables("flows", "flows"),
    derive=partial(front, key=("flows",), limit=True),
    bars=[bar for flows in (1, 4, 16, 100) for bar in bars(MISSES["frontier-flows"], f"x{flows}", {"flows": flows})],
)

MISSES["frontier-buffers"] = misses.read({MORE: "added: x16/0.25 x16/1 x16/4", ALONE: "used: x1/0.25 x1/0.5 x1/1"})
BUFFERS = (0.25, 0.5, 1.0, 4.0)
EXPERIMENTS["frontier-buffers"] = Experiment(
    title="Latency added against spare used, by the buffer in BDP: 20 Mbit/s, 40 ms, 16 flows",
    claim="Not in the papers. Theorem 1 of TCP Nice expects interference to grow as the buffer shrinks.",
    differs=f"{TODAY_DIFFERS} {DIFFERS}",
    sweep={"protocol": PROTOCOLS, "buffer": BUFFERS, "flows": (1, 16)},
    scenario=lambda protocol, buffer, flows, seed: today(protocol, buffer=buffer, flows=flows, seed=seed),
    figures=[figure("condition")],
    tables=[*tables("one", "buffer", flows=1), *tables("sixteen", "buffer", flows=16)],
    derive=lambda frame: front(frame, ("buffer", "flows")).assign(
        condition=lambda rows: rows.buffer.astype(str) + " BDP, " + rows.flows.astype(str)
    ),
    bars=[
        bar
        for buffer in BUFFERS
        for flows in (1, 16)
        for bar in bars(MISSES["frontier-buffers"], f"x{flows}/{buffer:g}", {"buffer": buffer, "flows": flows})
    ],
)

MISSES["frontier-foregrounds"] = misses.read({MORE: "added: cubic reno bbr cubic-persistent"})
FOREGROUNDS = ("cubic", "reno", "bbr", "cubic, persistent")
EXPERIMENTS["frontier-foregrounds"] = Experiment(
    title="Latency added against spare used, by the documents' congestion control: 20 Mbit/s, 40 ms, 1 BDP, 4 flows",
    claim="Not in the papers: their documents are Reno's.",
    differs=f"{TODAY_DIFFERS} {DIFFERS}",
    sweep={"protocol": PROTOCOLS, "pages": FOREGROUNDS},
    scenario=lambda protocol, pages, seed: today(
        protocol, foreground=pages.split(",")[0], persistent="," in pages, flows=4, seed=seed
    ),
    figures=[figure("pages")],
    tables=tables("pages", "pages"),
    derive=partial(front, key=("pages",)),
    bars=[
        bar
        for pages in FOREGROUNDS
        for bar in bars(MISSES["frontier-foregrounds"], pages.replace(", ", "-"), {"pages": pages})
    ],
)

MISSES["frontier-paths"] = misses.read(
    {
        FEW_PACKETS: """
            added: 1/10 1/40 1/200 10/10
            used: 1/10 1/40 10/10
        """,
        MORE: "added: 10/40 10/200 100/10 100/40",
    }
)
RATES, RTTS = (1.0, 10.0, 100.0), (10.0, 40.0, 200.0)
EXPERIMENTS["frontier-paths"] = Experiment(
    title="Latency added against spare used, by Mbit/s and ms: a buffer of a BDP, 4 flows",
    claim="Not in the papers.",
    differs=f"{TODAY_DIFFERS} {DIFFERS} At 100 Mbit/s 10 s are measured, elsewhere 50; 1 Gbit/s is not run.",
    sweep={"protocol": PROTOCOLS, "rate": RATES, "rtt": RTTS},
    scenario=lambda protocol, rate, rtt, seed: today(
        protocol, rate=rate, rtt=rtt, flows=4, seed=seed, duration=20.0 if rate > 10 else 60.0
    ),
    figures=[figure("path")],
    tables=[table for rate in RATES for table in tables(f"rate{rate:g}", "rtt", rate=rate)],
    derive=lambda frame: front(frame, ("rate", "rtt")).assign(
        path=lambda rows: rows.rate.map("{:g}".format) + " Mbit/s, " + rows.rtt.map("{:g}".format) + " ms"
    ),
    bars=[
        bar
        for rate in RATES
        for rtt in RTTS
        for bar in bars(MISSES["frontier-paths"], f"{rate:g}/{rtt:g}", {"rate": rate, "rtt": rtt})
    ],
)

MISSES["frontier-queues"] = misses.read({MORE: "added: fifo red codel pie", BY_FLOW: "added: fq_codel cake"})
QUEUES = ("fifo", "red", "codel", "pie", "fq_codel", "cake")
EXPERIMENTS["frontier-queues"] = Experiment(
    title="Latency added against spare used, by queue discipline: 20 Mbit/s, 40 ms, at most 2 BDP, 4 flows",
    claim="Not in the papers but RED. Behind a router that queues by flow, delay does not show other people's traffic.",
    differs=f"{TODAY_DIFFERS} {DIFFERS} The spare is that of a priority queue in front of a drop-tail buffer.",
    sweep={"protocol": PROTOCOLS, "queue": QUEUES},
    scenario=lambda protocol, queue, seed: today(protocol, queue=queue, buffer=2.0, flows=4, seed=seed),
    figures=[figure("queue")],
    tables=tables("queue", "queue"),
    derive=partial(front, key=("queue",)),
    bars=[bar for queue in QUEUES for bar in bars(MISSES["frontier-queues"], queue, {"queue": queue})],
)
