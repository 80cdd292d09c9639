# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Lines of homes and phones that the core was not tuned to: two flows a way in the background, and pages of users.

The oracle is a router that serves the pages first: what a sender could take that knew the line and the pages. With
netnice, downloads come from servers of CUBIC, and their receiver yields; the others yield at the server. The last line
of each kind was put aside, and not looked at until the core stood.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from experiments.frontier import many_users
from experiments.lines import umts
from experiments.lines.usual import DURATION, FLOWS, LOAD, START, WARM_UP, Line, kind
from experiments.low_priority.access import ROOMY
from experiments.tcp_nice import drive
from experiments.tcp_nice.internet import GOLDEN
from netnice_lab.judgement import misses
from netnice_lab.model.background import changing, finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table, select
from netnice_lab.model.foreground import DRAIN
from netnice_lab.model.protocols import protocol
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Documents, Traffic

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

SCAVENGERS = ("nice", "nnledbat", "nnledbatpp", "nnlp", "netnice")
PROTOCOLS = ("none", "priority", "cubic", "bbr", *SCAVENGERS)
SEEDS, FEW_SEEDS = 5, 3
"""Runs of a cell; fewer where lines of 50 Mbit/s and more make them long."""
WAYS = ("up", "down", "both")
OF_CUBIC, PAGES = "of CUBIC's rate", "pages, times as long as alone"
HOMES = {
    "home-10-50": Line(10_000_000, 50_000_000, 30_000, 0.35),
    "home-5-25": Line(5_000_000, 25_000_000, 20_000, 0.4),
    "home-20-100": Line(20_000_000, 100_000_000, 30_000, 0.3),
    "fibre-100": Line(100_000_000, 100_000_000, 9_000, 0.04),
    "fibre-120": Line(120_000_000, 120_000_000, 6_000, 0.04),
    "home-8-40": Line(8_000_000, 40_000_000, 25_000, 0.4),
    "fibre-110": Line(110_000_000, 110_000_000, 8_000, 0.04),
}


def parts(frame: pd.DataFrame, metric: str, keys: Sequence[str], base: Cell, of: str = "") -> pd.Series:
    """A metric over the mean of the base's runs with the same keys; `of`: over another metric of these runs."""
    known = select(frame, base).groupby(list(keys))[of or metric].mean().rename("base").reset_index()
    return frame[metric] / frame[list(keys)].merge(known, on=list(keys), how="left").set_index(frame.index)["base"]


def in_order(frame: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """The rows by these keys, whose values keep their order."""
    return frame.sort_values(list(keys), key=lambda one: one.map(list(one.unique()).index), kind="stable")


def kinds(frame: pd.DataFrame) -> pd.Series:
    """Of each row the kind of line and the way: a panel of a picture."""
    return frame.line.str.split("-").str[0] + ", " + frame.way


def background(name: str, way: str, home: str, far: str, sockets: str = "reno") -> list[Traffic]:
    """Flows of a protocol, up or down; `sockets`: what those of the home run on, that only acknowledge."""
    chosen = protocol(name)
    if chosen.none:
        return []
    if way == "up":
        return [Bulk(home, far, FLOWS, chosen.congestion_control, START, group="up")]
    if name != "netnice":
        return [Bulk(far, home, FLOWS, chosen.congestion_control, START, group="down")]
    return [Bulk(far, home, FLOWS, "cubic", START, group="down", receiver=True, sink_control=sockets)]


def receiver(name: str, way: str) -> Receiver | None:
    """The half of netnice that yields with downloads."""
    return Receiver("tide") if name == "netnice" and way != "up" else None


def at_home(name: str, line: str, way: str, seed: int) -> Scenario:
    """Uploads, downloads, or both at once."""
    chosen, place = protocol(name), HOMES[line]
    users = many_users(LOAD * place.down, DURATION - DRAIN, seed)
    traffic: list[Traffic] = [Documents("www", "user", users, "cubic")]
    for one in ("up", "down") if way == "both" else (way,):
        sockets = "netnice" if name == "netnice" and way == "both" else "reno"
        traffic += background(name, one, "pc", "peer", sockets)
    made = Scenario(
        place.network(kind(chosen)), tuple(traffic), DURATION, WARM_UP, seed, sysctls=ROOMY,
        receiver=receiver(name, way),
    )  # fmt: skip
    return finish(made, chosen)


MOST, BOTH_LEAST, LEAST = 1.05, 0.85, 0.9
"""Pages x alone; both ways, of what each has alone; one way, of CUBIC's."""


def home_bars(line: str) -> list[Bar]:
    """Of a household or a fibre."""
    made: list[Bar] = []
    for way in WAYS:
        cell: Cell = {"protocol": "netnice", "line": line, "way": way}
        none: Cell = {"protocol": "none", "line": line, "way": "up"}
        made.append(Bar(f"pages beside {way} / alone {line}", "latency_geometric", cell, none, maximum=MOST))
        for one in ("up", "down") if way == "both" else (way,):
            over: Cell = {**cell, "way": one} if way == "both" else {**cell, "protocol": "cubic"}
            says = f"both ways, {one} / one way" if way == "both" else f"{one} / CUBIC's"
            made.append(Bar(f"{says} {line}", one, cell, over, minimum=BOTH_LEAST if way == "both" else LEAST))
    return made


MISSES["real-homes"] = misses.read(
    {
        "{mean}: some packets of its own wait, and what is in flight when a page begins cannot be taken back": """
            pages beside up / alone: home-10-50 home-5-25 home-20-100 fibre-100 fibre-120 home-8-40 fibre-110
            pages beside down / alone: home-10-50 home-5-25 home-20-100 fibre-100 fibre-120 home-8-40 fibre-110
            pages beside both / alone: home-10-50 home-5-25 home-20-100 fibre-100 fibre-120 home-8-40 fibre-110
        """,
        "{mean}: it yields to each page's burst, and comes back in rounds": """
            down / CUBIC's: home-5-25
            both ways, down / one way: home-5-25 home-8-40
        """,
        "{mean}: its ACKs come in bursts behind the downloads, and what they acknowledge leaves as bursts": """
            both ways, up / one way: fibre-100 fibre-120 fibre-110
        """,
    }
)

EXPERIMENTS["real-homes"] = Experiment(
    title="Households and fibres: two flows a way, up, down and both at once, beside pages",
    claim="Not in the papers. The bars: pages 5 % longer at most; .9 of CUBIC's one way, both ways .85 of that.",
    sweep={"protocol": PROTOCOLS, "line": tuple(HOMES), "way": WAYS},
    scenario=lambda protocol, line, way, seed: at_home(protocol, line, way, seed),
    exists=lambda cell: cell["protocol"] != "none" or cell["way"] == "up",
    derive=lambda frame: in_order(frame, "line", "way").assign(
        slower=parts(frame, "latency_geometric", ("line",), {"protocol": "none"}),
        **{f"of_{way}": parts(frame, way, ("line", "way"), {"protocol": "cubic"}) for way in ("up", "down")},
        lines=kinds(frame),
    ).assign(of=lambda made: made[["of_up", "of_down"]].mean(axis=1)),
    figures=[Figure("of", "slower", "protocol", OF_CUBIC, PAGES, panel="lines", kind="frontier")],
    tables=[
        Table("homes", ("line", "way"), "protocol",
              [Number("slower", 2, most=MOST), Number("of_up", 2), Number("of_down", 2)])
    ],
    seeds=FEW_SEEDS,
    pinned={"latency_geometric": 0.1},
    bars=misses.marked(MISSES["real-homes"], [bar for line in HOMES for bar in home_bars(line)]),
)  # fmt: skip


@dataclass(frozen=True)
class Radio:
    """A drive; microseconds of RTT, bytes of buffer."""

    drive: str
    rtt: int
    buffer: int

    def rates(self, duration: float, seed: int) -> list[int]:
        """Bit/s of every quarter of a second; each seed begins elsewhere on the drive."""
        begin = seed * GOLDEN % 1 * len(drive.PACKETS) * drive.EVERY
        if self.drive == "lte":
            return drive.rates(begin, duration)
        return umts.rates(self.drive.removeprefix("umts-"), begin, duration)


RADIOS = {
    "lte": Radio("lte", 60_000, 1_000_000),
    "lte-short": Radio("lte", 35_000, 300_000),
    "3g": Radio("umts-down", 100_000, 250_000),
    "3g-deep": Radio("umts-down", 150_000, 1_000_000),
    "lte-deep": Radio("lte", 90_000, 4_000_000),
    "3g-narrow": Radio("umts-up", 120_000, 250_000),
}


def by_radio(name: str, line: str, way: str, seed: int) -> Scenario:
    """Flows and pages share the narrow way; `up`: netnice is the flows' sender, `down`: their receiver."""
    chosen, place = protocol(name), RADIOS[line]
    rates, back = place.rates(DURATION, seed), Pipe(delay=place.rtt)
    narrow = Pipe(rates[0], Queue(kind(chosen), bytes=place.buffer))
    network = Topology(
        ("www", "bulk", "home"),
        ("router",),
        (
            Link("www", "router", back=back),
            Link("router", "home", forward=narrow),
            Link("bulk", "router", back=back),
        ),
    )
    flows = background(name, way, "bulk", "home") if way == "up" else background(name, way, "home", "bulk")
    users = many_users(LOAD * sum(rates) / len(rates), DURATION - DRAIN, seed)
    changes, knobs = changing("router", "router-1", rates[1:], drive.EVERY, place.buffer)
    traffic = (Documents("www", "home", users, "cubic"), *flows, *changes)
    made = Scenario(network, traffic, DURATION, WARM_UP, seed, sysctls=ROOMY, knobs=knobs, receiver=receiver(name, way))
    done = finish(made, chosen)
    return done if done.knobs == made.knobs else Scenario(**{**vars(done), "knobs": knobs + done.knobs})


SHARE, SLOWER, OF_ORACLE = 0.6, 1.10, 0.8


def radio_bars(line: str) -> list[Bar]:
    """Share of CUBIC's, or of the oracle's where that is less; above LEDBAT's in any case; the pages."""
    made: list[Bar] = []
    for way in ("up", "down"):
        cell: Cell = {"protocol": "netnice", "line": line, "way": way}
        none: Cell = {"protocol": "none", "line": line, "way": "up"}
        of = {name: {**cell, "protocol": name} for name in ("cubic", "priority", "nnledbat")}
        made += [
            Bar(f"{way}, of CUBIC's {line}", way, cell, of["cubic"], minimum=SHARE),
            Bar(f"{way}, of the oracle's {line}", way, cell, of["priority"], minimum=OF_ORACLE),
            Bar(f"{way}, of LEDBAT's {line}", way, cell, of["nnledbat"], minimum=1.0),
            Bar(f"pages beside {way} / alone {line}", "latency_geometric", cell, none, maximum=SLOWER),
        ]
    return made


MISSES["real-radio"] = misses.read(
    {
        "{mean}: a fall of the rate looks like another flow's queue": """
            up, of the oracle's: lte lte-short 3g lte-deep 3g-narrow
            up, of LEDBAT's: lte lte-short lte-deep
        """,
        "{mean}: what is in flight when the rate falls waits, and cannot be taken back": """
            pages beside up / alone: lte lte-short 3g 3g-deep 3g-narrow
            pages beside down / alone: 3g-narrow
        """,
        "{mean}: a fall of the rate looks like another flow's queue, and downloads wait for it to go": """
            down, of CUBIC's: lte 3g 3g-deep lte-deep 3g-narrow
            down, of the oracle's: lte lte-short 3g lte-deep 3g-narrow
            down, of LEDBAT's: lte lte-short lte-deep
        """,
    }
)

EXPERIMENTS["real-radio"] = Experiment(
    title="Drives on LTE and UMTS: two flows beside pages that take a tenth of the line",
    claim="Not in the papers. The bars: .6 of CUBIC's or .8 of the oracle's, pages 10 % longer at most.",
    sweep={"protocol": PROTOCOLS, "line": tuple(RADIOS), "way": ("up", "down")},
    scenario=lambda protocol, line, way, seed: by_radio(protocol, line, way, seed),
    exists=lambda cell: cell["protocol"] != "none" or cell["way"] == "up",
    derive=lambda frame: in_order(frame, "line", "way").assign(
        slower=parts(frame, "latency_geometric", ("line",), {"protocol": "none"}),
        share=parts(frame, "up", ("line",), {"protocol": "cubic", "way": "up"}).fillna(
            parts(frame, "down", ("line",), {"protocol": "cubic", "way": "down"})
        ),
        lines=kinds(frame),
    ),
    figures=[Figure("share", "slower", "protocol", OF_CUBIC, PAGES, panel="lines", kind="frontier")],
    tables=[
        Table("radio", ("line", "way"), "protocol",
              [Number("slower", 2, most=SLOWER), Number("share", 2, least=SHARE)])
    ],
    seeds=SEEDS,
    pinned={"latency_geometric": 0.2},
    bars=misses.marked(MISSES["real-radio"], [bar for line in RADIOS for bar in radio_bars(line)]),
)  # fmt: skip
