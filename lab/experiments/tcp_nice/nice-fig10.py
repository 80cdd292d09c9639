# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 10: what those who wait for pages feel of prefetching, with the programs that ship."""

from experiments.tcp_nice.world.prefetching import LINES, visited
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Cell, Experiment, Figure, Number, Table

PROTOCOLS = ("reno", "cubic", "nice", "netnice")
MISSES: misses.Misses = {
    "four in ten of what is demanded were not there ahead: first pages of visits, and what no log of yesterday has": """
        aggressive-nice: cable
        aggressive-netnice: cable
    """,
    "users demand ten times what it carries: connections take a queue of seconds for the path's own delay": """
        aggressive-nice: modem
        aggressive-netnice: modem
    """,
}
"""Bars that are not met: AGGRESSIVE-PROTOCOL: LINE …"""
KNOWN = misses.read(MISSES)
MOST = {"cable": 1 / 3, "modem": 1.05}
"""Of the mean wait without prefetching."""


def exists(cell: Cell) -> bool:
    """Without prefetching there is nothing to choose a protocol for."""
    return cell["preset"] != "none" or cell["protocol"] == "reno"


experiment = Experiment(
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
        misses.bar(KNOWN, f"aggressive-{protocol} {line}", "waited",
                   {"line": line, "preset": "aggressive", "protocol": protocol},
                   {"line": line, "preset": "none", "protocol": "reno"}, maximum=MOST[line])
        for protocol in ("nice", "netnice") for line in LINES
    ],
)  # fmt: skip
