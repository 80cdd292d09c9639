# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, section 6.2, figure 11: a file for 200 clients on unlike links, by way of eight replication servers.

An origin gives the file to the servers, each server to its region's 25 clients, five of each kind of line. Beside it
every client is pinged and asks a web server for small documents.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from experiments.low_priority.access import ROOMY
from netnice_lab.judgement import misses
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.output import Sampled
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Change, Document, Documents, Traffic

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

Line = tuple[int, int, int]
LINES: dict[str, Line] = {
    "modem": (48_000, 150_000, 16_384),
    "adsl": (1_000_000, 50_000, 125_000),
    "cable": (8_000_000, 30_000, 256_000),
    "vdsl": (50_000_000, 20_000, 625_000),
    "fibre": (200_000_000, 5_000, 250_000),
}
"""Bit/s, microseconds of RTT, bytes of buffer: 2.7 s, 1 s, 256, 100 and 10 ms of it."""
REGIONS, EACH = 8, 5
"""Replication servers, and clients of each kind of line in the region of one."""
TRUNK = 100_000_000
"""Bit/s between the origin and the servers."""
FILE, PING, REQUEST = 4_000_000, 64, 8_000
"""Bytes: of what is distributed, of a ping, of a document."""
HANDED_ON = 5.0
"""Seconds until the servers have the file and give it to their clients."""
LASTS = 1600.0
"""Of the whole: the slowest throttle takes 1,400 s."""
PINGS, REQUESTS = 15, 5
"""A decade of the time since the transfer began: denser at its start, so that short transfers have some, too."""


@dataclass(frozen=True)
class Distribution:
    """Completion times, pings and documents of each kind of line, and the geometric means over the kinds.

    Only what was asked for while the client's own transfer went on counts, weighted by the time until the next.
    """

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """`time` in s, `ping` and `request` in ms; the same of each line, and time × ping."""
        import pandas as pd

        frame, end = sampled.documents, sampled.end * 1e6
        found: dict[str, float] = {}
        for line in LINES:
            files = frame[frame.client.isin(sampled.readers.get(f"{line} file", []))]
            over = pd.Series(end, range(REGIONS * EACH))
            if not files.empty:
                over = files.arrived_us.where(files.arrived_us > 0, end).reset_index(drop=True)
                found[f"{line}_time"] = float((over - files.asked_us.to_numpy()).mean() / 1e6)
                found[f"{line}_late"] = float((files.arrived_us == 0).sum())
            for what, done in (("ping", "acked_us"), ("request", "arrived_us")):
                numbers = sampled.readers[f"{line} {what}"]
                found[f"{line}_{what}"] = mean_while(frame, dict(zip(numbers, over, strict=True)), done, end)
            if f"{line}_time" in found:
                found[f"{line}_product"] = found[f"{line}_time"] * found[f"{line}_ping"]
        for what in ("time", "ping", "request"):
            values = [value for name, value in found.items() if name.endswith(f"_{what}")]
            if values:
                found[what] = float(np.exp(np.mean(np.log(values))))
        return found


def mean_while(frame: pd.DataFrame, over: dict[int, float], done: str, end: float) -> float:
    """Mean over time, in ms, of how long a client waits for an answer; each counts until its own transfer is over."""
    rows = frame[frame.client.isin(over.keys())]
    gap = rows.groupby("client").asked_us.diff().shift(-1).fillna(0.0)
    begin = rows.first_us.where(rows.first_us > 0, rows.asked_us) if done == "acked_us" else rows.asked_us
    waited = rows[done].where(rows[done] > 0, end) - begin
    during = rows.asked_us < rows.client.map(over)
    return float(np.average(waited[during], weights=gap[during]) / 1e3)


@cache
def network() -> Topology:
    """All of the propagation delay is on the way of the ACKs."""
    clients: list[str] = []
    links = [
        Link("origin", "core", forward=Pipe(TRUNK, Queue("fifo", bytes=TRUNK // 8 // 40))),
        Link("www", "core"),
    ]
    for region in range(REGIONS):
        router = f"r{region}"
        links += [Link("core", router), Link(f"server{region}", router)]
        for line, (rate, rtt, buffer) in LINES.items():
            for number in range(EACH):
                clients.append(client := f"{line}{region}{number}")
                pipe = Pipe(rate, Queue("fifo", bytes=buffer))
                links.append(Link(router, client, forward=pipe, back=Pipe(delay=rtt)))
    servers = tuple(f"server{region}" for region in range(REGIONS))
    return Topology(
        ("origin", "www", *servers, *clients),
        ("core", *(f"r{n}" for n in range(REGIONS))),
        tuple(links),
        default_routes=True,
    )


def moments(random: np.random.Generator, alone: float, a_decade: int) -> list[float]:
    """Times since the beginning of a transfer, a hundredth of what it takes alone at first."""
    first = alone / 100
    count = int(np.log10((LASTS - HANDED_ON - 1) / first) * a_decade)
    return [float(HANDED_ON + first * 10 ** ((n + random.random()) / a_decade)) for n in range(count)]


def distribution(algorithm: str, throttle: int, seed: int) -> Scenario:
    """One file to all clients; `throttle`: the most that a server sends to one client, bit/s (0: no limit)."""
    chosen, random = protocol(algorithm), np.random.Generator(np.random.PCG64([seed, 0x71F0]))
    traffic: list[Traffic] = []
    for region in range(REGIONS):
        server = f"server{region}"
        if not chosen.none:
            begin = Document(random.uniform(0.0, 0.1), FILE, 0)
            traffic.append(Documents("origin", server, (begin,), chosen.congestion_control, tos=0))
        if throttle:
            device = Topology.device(server, network().neighbours[server][0][0])
            traffic.append(Change(0.0, server, f"qdisc add dev {device} root fq maxrate {throttle}bit"))
        for line, (rate, _, _) in LINES.items():
            for number in range(EACH):
                client, alone = f"{line}{region}{number}", FILE * 8 / rate
                if not chosen.none:
                    file = Document(HANDED_ON + random.uniform(0.0, 0.1), FILE, 0)
                    congestion_control = chosen.congestion_control
                    traffic.append(Documents(server, client, (file,), congestion_control, tos=0, group=f"{line} file"))
                pings = tuple(Document(at, PING, 0) for at in moments(random, alone, PINGS))
                traffic.append(Documents("www", client, pings, "cubic", True, tos=0, group=f"{line} ping"))
                pages = tuple(Document(at, REQUEST, 0) for at in moments(random, alone, REQUESTS))
                traffic.append(Documents("www", client, pages, "cubic", tos=0, group=f"{line} request"))
    made = Scenario(network(), tuple(traffic), LASTS, 0.001, seed, sysctls=ROOMY, measure=Distribution())
    return finish(made, chosen)


THROTTLES = (24_000, 96_000, 384_000, 1_536_000, 6_144_000, 24_576_000, 0)
"""Bit/s that a server sends to one client at most; the last has none."""
PLAIN, YIELDING = ("reno", "cubic"), ("nice", "netnice")
ALL = "all"
"""The geometric mean over the kinds of line."""
WHERE = (*LINES, ALL)
METRICS = ("time", "ping", "request")
BETTER, BESIDE = 1.05, 1.05
ACCEPTABLE = 2.0
"""Of a ping on an idle line; the paper has no number."""
BEST = {"modem": 24_000, "adsl": 384_000, "cable": 6_144_000, "vdsl": 24_576_000, "fibre": 0}
"""Of THROTTLES, Reno's with the least time × ping."""
NOTHING: Cell = {"algorithm": "none", "throttle": 0}
OURS: Cell = {"algorithm": "netnice", "throttle": 0}
MISSES["nice-fig11"] = misses.read(
    {
        "a document waits for the few packets that the background keeps in the queue: one takes 250 ms on the modem, "
        "12 on the ADSL line, 1.5 on the cable modem": """
            documents beside nice: modem cable
            documents beside netnice: modem adsl cable
        """,
        "it halves: two packets of its own take longer on this line than the threshold allows a queue to be": """
            the least time by nice: modem adsl cable
        """,
        "why is not known": """
            the least time by netnice: vdsl
        """,
        "it keeps a few packets in the queue, 250 ms each": """
            an acceptable ping beside netnice: modem
        """,
        "the mean of what its lines miss": """
            documents beside nice: all
            documents beside netnice: all
        """,
        "{mean} of alone: not examined": """
            documents beside netnice: fibre
        """,
    }
)


def exists(cell: Cell) -> bool:
    """What yields needs no throttle, and nothing has none."""
    return cell["algorithm"] in PLAIN or not cell["throttle"]


def named(metric: str, where: str) -> str:
    """A metric of one kind of line, or of all."""
    return metric if where == ALL else f"{where}_{metric}"


def bars() -> list[Bar]:
    """No throttle beats the point without tuning, and clients of documents do not notice it."""
    frontier = [
        misses.bar(MISSES["nice-fig11"], f"{algorithm} at {throttle or 'any'} bit/s is not better in both: {where}",
                   named("time", where), {"algorithm": algorithm, "throttle": throttle}, OURS,
                   minimum=1 / BETTER, or_metric=named("ping", where))
        for algorithm in PLAIN for throttle in THROTTLES for where in WHERE
    ]  # fmt: skip
    requests = [
        misses.bar(MISSES["nice-fig11"], f"documents beside {algorithm} {where}", named("request", where),
                   {"algorithm": algorithm, "throttle": 0}, NOTHING, maximum=BESIDE)
        for algorithm in YIELDING for where in WHERE
    ]  # fmt: skip
    return frontier + requests + untuned() + throttled()


def untuned() -> list[Bar]:
    """The least transfer times, and acceptable pings: Reno without a throttle and an idle line."""
    return [
        misses.bar(MISSES["nice-fig11"], f"{says} {algorithm} {line}", named(metric, line),
                   {"algorithm": algorithm, "throttle": 0}, {"algorithm": other, "throttle": 0}, maximum=most)
        for algorithm in YIELDING for line in LINES
        for says, metric, other, most in (
            ("the least time by", "time", "reno", BETTER), ("an acceptable ping beside", "ping", "none", ACCEPTABLE),
        )
    ]  # fmt: skip


def throttled() -> list[Bar]:
    """By Reno, the higher a throttle the shorter a transfer and the longer a ping; the best one is another by line."""

    def by_reno(throttle: int) -> Cell:
        return {"algorithm": "reno", "throttle": throttle}

    higher = [
        Bar(f"reno at {more or 'any'} bit/s: {says} than at {less}", metric, by_reno(more), by_reno(less), low, high)
        for less, more in itertools.pairwise(THROTTLES)
        for says, metric, low, high in (("a shorter time", "time", None, 1.0), ("a longer ping", "ping", 1.0, None))
    ]
    pairs = [pair for one, other in itertools.pairwise(LINES) for pair in ((one, other), (other, one))]
    best = [
        Bar(f"{line}: its best throttle is better than that of {other}", f"{line}_product", by_reno(BEST[line]),
            by_reno(BEST[other]), maximum=1.0)
        for line, other in pairs
    ]  # fmt: skip
    return higher + best


def by_line(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a run and kind of line; `beside`: the documents as multiples of what they take with nothing beside them."""
    import pandas as pd

    rows = [
        frame[["algorithm", "throttle", "seed"]].assign(
            line=where, **{metric: frame[named(metric, where)] for metric in METRICS}
        )
        for where in WHERE
    ]
    found = pd.concat(rows, ignore_index=True)
    nothing = found[found.algorithm == "none"].set_index(["line", "seed"]).request
    base = nothing.reindex(pd.MultiIndex.from_frame(found[["line", "seed"]])).to_numpy()
    limit = found.throttle.map(lambda throttle: f"{throttle / 1000:g} kbit/s" if throttle else "none")
    return found.assign(beside=found.request / base, limit=limit)[found.algorithm != "none"]


EXPERIMENTS["nice-fig11"] = Experiment(
    title="A file for 200 clients on unlike links: ping against completion, throttled and in the background",
    claim="With Reno, completion times decrease with increasing throttle rates but increase ping latencies as well, "
    "and the optimal rates vary widely across different networks. Nice picks sending rates for each connection that "
    "achieve minimum transfer times while maintaining acceptable ping latencies in all cases.",
    differs="40 clients on each of five kinds of line instead of one on each of a few networks; the servers' throttle "
    "is fq's maxrate; a ping is 64 bytes over a connection that is there, one way and its ACK. One seed: 40 clients "
    "are the sample.",
    sweep={"algorithm": ("none", *YIELDING, *PLAIN), "throttle": THROTTLES},
    scenario=distribution,
    exists=exists,
    figures=[Figure("time", "ping", "algorithm", "completion, s", "ping, ms", True, True, panel="line")],
    seeds=1,
    quick={"algorithm": ("none", "netnice"), "throttle": (0,)},
    pinned={named(metric, where): 0.05 for where in WHERE for metric in METRICS},
    bars=bars(),
    tables=[
        Table("frontier", ("algorithm", "limit"), "line", [Number("time", 1), Number("ping", 0)]),
        Table("documents", ("algorithm",), "line", [Number("beside", 2, most=BESIDE)], {"throttle": 0}),
    ],
    derive=by_line,
)  # fmt: skip
