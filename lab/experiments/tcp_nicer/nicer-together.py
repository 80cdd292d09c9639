# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Flows of one level among themselves: how they share, and what they use."""

from experiments.tcp_nicer.world.levels import together
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment, Figure, Number, Table

LEVELS = ("netnice", "netnice1", "netnice2")
RATES, FLOWS = (10.0, 100.0), (2, 4, 16, 64)
MISSES: misses.Misses = {
    "the pairs of 64 flows meet: lost packets, and windows below one segment": """
        goodput netnice: 10/64 100/64
        jain netnice: 10/64
    """,
    "with a segment each they meet each other's pairs by chance: beyond 5/8 of the path they cannot tell that from a "
    "level above": """
        goodput netnice1: 10/16 10/64 100/64
        goodput netnice2: 10/16 10/64 100/64
    """,
}
"""Bars that are not met: jain LEVEL or goodput LEVEL: RATE/FLOWS …"""
KNOWN = misses.read(MISSES)

experiment = Experiment(
    title="Flows of one level: Jain's index and goodput",
    claim="Ours: Jain's index of at least 0.95 with 2, 4, 16 and 64 flows, and together 0.95 of what one has.",
    differs="All start within a second, one BDP of buffer. Means over the last two thirds of 90 s at 10 Mbit/s, of "
    "45 s at 100; what is named _start is of the time from the second second until then.",
    sweep={"rate": RATES, "level": LEVELS, "flows": (1, *FLOWS)},
    scenario=lambda rate, level, flows, seed: together(level, flows, seed, rate),
    figures=[
        Figure("flows", "background_fairness", "level", "flows", "Jain's index", True, panel="rate"),
        Figure("flows", "background", "level", "flows", "Mbit/s", True, True, panel="rate"),
    ],
    tables=[
        Table("jain", ("rate", "level"), "flows", [Number("background_fairness", least=0.95)]),
        Table("goodput", ("rate", "level"), "flows", [Number("background_start", 1), Number("background", 1)]),
    ],
    seeds=2,
    quick={"rate": (10.0,), "flows": (1, 4, 16)},
    pinned={"background": 0.10, "background_fairness": 0.10},
    bars=[
        bar
        for rate in RATES for level in LEVELS for flows in FLOWS
        for bar in (
            misses.bar(KNOWN, f"jain {level} {rate:g}/{flows}", "background_fairness",
                       {"rate": rate, "level": level, "flows": flows}, minimum=0.95),
            misses.bar(KNOWN, f"goodput {level} {rate:g}/{flows}", "background",
                       {"rate": rate, "level": level, "flows": flows},
                       {"rate": rate, "level": level, "flows": 1}, minimum=0.95),
        )
    ],
)  # fmt: skip
