# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, section 6.2: a file for 200 clients on unlike links, by way of eight replication servers.

An origin gives the file to the servers, each server to its region's 25 clients, five of each kind of line. Beside it
every client is pinged and asks a web server for small documents.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from experiments.low_priority.world.access import ROOMY
from netnice_lab.model.background import finish
from netnice_lab.model.measure import Sampled
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Change, Document, Documents, Traffic

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
        """`time` in s, `ping` and `request` in ms; the same of each line."""
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
        for what in ("time", "ping", "request"):
            values = [value for name, value in found.items() if name.endswith(f"_{what}")]
            if values:
                found[what] = float(np.exp(np.mean(np.log(values))))
        return found


def mean_while(frame: pd.DataFrame, over: dict[int, float], done: str, end: float) -> float:
    """Mean over time in ms of what clients waited for, each until its own transfer was over."""
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
    """One file to everybody; `throttle`: the most that a server sends to one client, bit/s (0: no limit)."""
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
