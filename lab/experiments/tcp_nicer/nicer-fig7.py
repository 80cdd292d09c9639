# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 7: four priorities start one after the other, the lowest first."""

from experiments.tcp_nicer.world.levels import LEVELS, PAPER_RATE, RATES, arriving
from netnice_lab.judgement import misses
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario

OLDER = ("none", "3", "2", "1", "32", "321", "19x3", "19x2", "19x1")
"""Who is there: nobody, one flow of a lower priority, one of each (the paper's figure), or 19 of one."""
LONGEST = 20.0
"""Round trips."""
MISSES: misses.Misses = {
    "the path holds seven packets: those who are there give way in {mean} RTT": """
        netnice 0.3 0: 19x3 19x2 19x1
        netnice 0.3 1: 19x3 19x2
        netnice 0.3 2: 3 19x3
    """,
    "it comes, but slowly: its own slow start ends at the lower flow's queue, then a segment a round trip": """
        netnice 10 1: 3 2 32
        netnice 10 2: 3 19x3
        netnice 100 1: 3 2 32 19x3 19x2
        netnice 100 2: 3 19x3
        netnice 1000 1: 3 2 32 19x3 19x2
        netnice 1000 2: 3 19x3
    """,
    "Reno's slow start ends in a loss beside them, or is late by that": """
        netnice 10 0: 19x1
        netnice 1000 0: 321
    """,
    "Table I's own parameters; level 1 has 0.6 of the link even alone": """
        nicer 0.3 0: 19x3 19x2 19x1
        nicer 0.3 1: 19x3 19x2
        nicer 0.3 2: 3 19x3
    """,
}
"""Bars that are not met: PRESET RATE JOINS: OLDER …"""
KNOWN = misses.read(MISSES)


def lower(newcomer: int) -> str:
    """All lower priorities, the lowest first."""
    return "321"[: 3 - newcomer]


def here(cell: Cell) -> bool:
    """Those who are there are lower; Table I's levels at the paper's rate only."""
    below, older = lower(int(cell["joins"])), str(cell["older"])
    return older in {"none", below, *below, *(f"19x{one}" for one in below)} and (
        cell["preset"] == "netnice" or cell["rate"] == PAPER_RATE
    )


def run(preset: str, rate: float, joins: int, older: str, seed: int) -> Scenario:
    """The older, then the newcomer."""
    names = LEVELS[preset]
    flows = 19 if older.startswith("19x") else 1
    before = () if older == "none" else tuple(names[int(number)] for number in older.removeprefix("19x"))
    return arriving(names[joins], before, seed, rate, flows)


experiment = Experiment(
    title="TCP Nicer, figure 7: round trips until a newcomer holds 90 % of the link",
    claim="The lowest priority flow starts first and is taken over when the medium priority flow starts. Similarly, "
    "the high priority and foreground transfers take over when they start. Ours: within 20 RTT.",
    differs="Priorities are 0 (the foreground, Reno) to 3 (level 2). Round trips of the empty path, until the goodput "
    "of the 50 after it is 90 % of the payload that the link carries, which is no less than what any has alone; with "
    "nobody there it is the start of the newcomer itself. One BDP of buffer at 10 Mbit/s and more.",
    sweep={"preset": tuple(LEVELS), "rate": RATES, "joins": (3, 2, 1, 0), "older": OLDER},
    exists=here,
    scenario=run,
    figures=[Figure("older", "held", "joins", "who is there", "round trips", panel="rate")],
    timelines=[
        course
        for preset in LEVELS
        for course in over_time.courses({"preset": preset, "rate": PAPER_RATE, "joins": 0, "older": "321"})
    ],
    tables=[
        Table(preset, ("rate", "joins"), "older", [Number("held", 0, most=LONGEST)], {"preset": preset})
        for preset in LEVELS
    ],
    seeds=1,
    quick={"rate": (10.0,), "joins": (1, 0), "older": ("3", "2")},
    pinned={"newcomer": 0.10, "held": 0.25},
    bars=[
        misses.bar(KNOWN, f"{preset} {rate:g} {joins} {older}", "held",
                   {"preset": preset, "rate": rate, "joins": joins, "older": older}, maximum=LONGEST)
        for preset in LEVELS for rate in RATES for joins in (2, 1, 0) for older in OLDER[1:]
        if here({"preset": preset, "rate": rate, "joins": joins, "older": older})
    ],
)  # fmt: skip
