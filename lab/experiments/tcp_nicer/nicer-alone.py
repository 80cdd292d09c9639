# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Each level alone, and CUBIC alone: does a level have the whole of an idle path?"""

from experiments.tcp_nicer.world.levels import BUFFERS, RATES, beside, exists
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment, Figure, Number, Table

OURS = ("netnice", "netnice1", "netnice2")
MISSES: misses.Misses = {
    "{mean} of CUBIC: it loses packets where the buffer is half a BDP": "netnice: 100/0.5",
    "{mean} of CUBIC: its band is a pair of packets of this link": "netnice2: 0.3/8.5",
    "{mean} of CUBIC, from the fourth second on: its sawtooth, the same with every buffer": """
        netnice2: 1000/0.5 1000/1 1000/2 1000/4
    """,
}
"""Bars that are not met: LEVEL: RATE/BUFFER …"""
KNOWN = misses.read(MISSES)

experiment = Experiment(
    title="One flow of each level alone, beside CUBIC alone",
    claim="Ours: 95 % of what CUBIC has, at every rate.",
    differs="In the settled part of nicer-pairs' runs; nicer-fig7's column of nobody is how long each takes.",
    sweep={"rate": RATES, "buffer": BUFFERS, "protocol": ("cubic", "reno", *OURS)},
    exists=exists,
    scenario=lambda rate, buffer, protocol, seed: beside(protocol, "", 0, seed, rate, buffer),
    figures=[Figure("buffer", "filled", "protocol", "buffer, BDP", "part of the link's payload", True, panel="rate")],
    tables=[Table("alone", ("rate", "buffer"), "protocol", [Number("filled")])],
    seeds=1,
    quick={"rate": (0.3, 10.0), "buffer": (1.0, 8.5)},
    pinned={"upper": 0.05},
    bars=[
        misses.bar(KNOWN, f"{level} {rate:g}/{buffer:g}", "upper", {"rate": rate, "buffer": buffer, "protocol": level},
                   {"rate": rate, "buffer": buffer, "protocol": "cubic"}, minimum=0.95)
        for level in OURS for rate in RATES for buffer in BUFFERS if exists({"rate": rate, "buffer": buffer})
    ],
)  # fmt: skip
