# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 10: two homes behind a modem visit a site with prefetch hints, with the programs that ship.

Links and conditions are those of demo/scenes/prefetching.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.scenes.prefetching import FOREGROUND, LINKS, Arm, Conditions, settings
from demo.scenes.prefetching import Link as Line
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.visits import PROXY, SITE, Visits

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

LINES = {line.key: line for line in LINKS}
HOMES = ("home0", "home1")
END = 5.0
"""Seconds for the reports after all is measured."""


def network(line: Line) -> Topology:
    """The narrow line between the provider and the modem, both homes behind it."""
    pipe = Pipe(line.rate_bps, Queue(bytes=int(line.queue.removesuffix("kB")) * 1000))
    return Topology(
        ("site", *HOMES),
        ("isp", "modem"),
        (
            Link("isp", "site", forward=Pipe(delay=line.rtt_ms * 1000)),
            Link("isp", "modem", forward=pipe, back=pipe),
            *(Link("modem", home) for home in HOMES),
        ),
    )


def visited(line: str, preset: str, protocol: str, seed: int) -> Scenario:
    """Sixteen users; `preset` is 'none' or the proxy's."""
    c, chosen = Conditions(), LINES[line]
    arm = Arm() if preset == "none" else Arm(preset, protocol)
    visits = Visits(
        "site",
        HOMES,
        protocol,
        settings(arm, c, SITE, PROXY),
        users=c.clients_per_host,
        pages=c.pages,
        think=c.think,
        learned=c.learned_visits,
        played=c.played_visits,
        warm_up=c.warmup_s,
        seconds=chosen.seconds,
    )
    duration = c.warmup_s + chosen.seconds + END
    sysctls = (("ipv4/tcp_congestion_control", FOREGROUND),)
    return Scenario(network(chosen), (visits,), duration, c.warmup_s, seed, sysctls=sysctls)


PROTOCOLS = ("reno", "cubic", "nice", "netnice")
MISSES["nice-fig10"] = misses.read(
    {
        "four in ten of what is demanded were not there ahead: first pages of visits, and what no log of yesterday "
        "has": """
            aggressive-nice: cable
            aggressive-netnice: cable
        """,
        "users demand ten times what it carries: connections take a queue of seconds for the path's own delay": """
            aggressive-nice: modem
            aggressive-netnice: modem
            aggressive-reno triples the wait on the: modem
        """,
        "all prefetches together leave room (docs/research/prefetching.md); what it takes to hurt: nice-harm": """
            aggressive-reno is six times as slow as none on: cable
            aggressive-reno is ten times as slow as none on: cable
        """,
    }
)
"""Bars that are not met: AGGRESSIVE-PROTOCOL: LINE …"""
MOST, LESS = {"cable": 1 / 3, "modem": 1.05}, 0.8
"""Of the mean wait without prefetching; of that with Reno's, where the paper has an eighteenth."""


ALIKE = (0.9, 1.1)


def papers_bars() -> list[Bar]:
    """What the paper's figure says of Reno and Nice, conservative and aggressive."""

    def cell(line: str, arm: str) -> Cell:
        preset, protocol = arm.split("-")
        return {"line": line, "preset": preset, "protocol": protocol}

    def one(says: str, line: str, arm: str, over: str, low: float | None = None, high: float | None = None) -> Bar:
        says, chosen, other = f"{says} {line}", cell(line, arm), cell(line, over)
        return misses.bar(MISSES["nice-fig10"], says, "waited", chosen, other, low, high)

    return [
        one("aggressive-reno is six times as slow as none on", "cable", "aggressive-reno", "none-reno", 6.0),
        one("aggressive-reno is ten times as slow as none on", "cable", "aggressive-reno", "none-reno", 10.0),
        one("aggressive-reno triples the wait on the", "modem", "aggressive-reno", "none-reno", 3.0),
        one("conservative-nice is as conservative-reno on", "cable", "conservative-nice", "conservative-reno", *ALIKE),
        one("conservative-nice is as conservative-reno on", "modem", "conservative-nice", "conservative-reno", *ALIKE),
        one("aggressive-nice waits less than conservative-nice on", "cable", "aggressive-nice", "conservative-nice",
            None, 1.0),
        one("aggressive-nice waits less than aggressive-reno on", "cable", "aggressive-nice", "aggressive-reno",
            None, LESS),
    ]  # fmt: skip


def exists(cell: Cell) -> bool:
    """Without prefetching there is nothing to choose a protocol for."""
    return cell["preset"] != "none" or cell["protocol"] == "reno"


def parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Waits as parts of those without prefetching, by seed."""
    base = frame[frame.preset == "none"].set_index(["line", "seed"]).waited.rename("without")
    rows = frame.join(base, on=["line", "seed"])
    return rows.assign(part=rows.waited / rows.without)


EXPERIMENTS["nice-fig10"] = Experiment(
    title="Sixteen users on two homes, their browsers prefetch: mean wait for what they demand",
    claim="Aggressive prefetching on Nice makes demand three times faster on a cable modem, on Reno six times slower; "
    "on a modem Nice does no harm and Reno triples the wait.",
    differs="Links and traces are ours: 5 Mbit/s, 30 ms and 56 kbit/s, 150 ms; visits made up by netnice-replay, as "
    "Berkeley's traces are not public. netnice-prefetch is the server, netnice-replay the clients, as they ship.",
    sweep={"line": tuple(LINES), "preset": ("none", "conservative", "aggressive"), "protocol": PROTOCOLS},
    exists=exists,
    scenario=lambda line, preset, protocol, seed: visited(line, preset, protocol, seed),
    figures=[Figure("preset", "waited", "protocol", "", "mean wait, ms", panel="line")],
    tables=[
        Table("waits", ("line", "preset"), "protocol", [Number("waited", 0), Number("hits")]),
        Table("parts", ("line", "preset"), "protocol", [Number("part")]),
        Table("bytes", ("line", "preset"), "protocol", [Number("demanded", 3), Number("prefetched", 3)]),
    ],
    derive=parts,
    seeds=4,
    quick={"line": ("cable",), "preset": ("none", "aggressive"), "protocol": ("reno", "netnice")},
    pinned={"waited": 0.15, "hits": 0.10},
    bars=[
        misses.bar(MISSES["nice-fig10"], f"aggressive-{protocol} {line}", "waited",
                   {"line": line, "preset": "aggressive", "protocol": protocol},
                   {"line": line, "preset": "none", "protocol": "reno"}, maximum=MOST[line])
        for protocol in ("nice", "netnice") for line in LINES
    ] + papers_bars(),
)  # fmt: skip
