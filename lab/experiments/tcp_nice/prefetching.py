# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 10: two homes behind a modem visit a site with prefetch hints, with the programs that ship.

Links and conditions are those of demo/scenes/prefetching.py.
"""

from demo.scenes.prefetching import FOREGROUND, LINKS, Arm, Conditions, settings
from demo.scenes.prefetching import Link as Line
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.visits import PROXY, SITE, Visits

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
        """,
    }
)
"""Bars that are not met: AGGRESSIVE-PROTOCOL: LINE …"""
MOST = {"cable": 1 / 3, "modem": 1.05}
"""Of the mean wait without prefetching."""


def exists(cell: Cell) -> bool:
    """Without prefetching there is nothing to choose a protocol for."""
    return cell["preset"] != "none" or cell["protocol"] == "reno"


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
        Table("bytes", ("line", "preset"), "protocol", [Number("demanded", 3), Number("prefetched", 3)]),
    ],
    seeds=4,
    quick={"line": ("cable",), "preset": ("none", "aggressive"), "protocol": ("reno", "netnice")},
    pinned={"waited": 0.15, "hits": 0.10},
    bars=[
        misses.bar(MISSES["nice-fig10"], f"aggressive-{protocol} {line}", "waited",
                   {"line": line, "preset": "aggressive", "protocol": protocol},
                   {"line": line, "preset": "none", "protocol": "reno"}, maximum=MOST[line])
        for protocol in ("nice", "netnice") for line in LINES
    ],
)  # fmt: skip
