# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The levels at today's rates: alone, every pair, flows of one level together, and how many more there could be."""

from dataclasses import replace
from functools import partial

from experiments.tcp_nicer.levels import (
    BUFFERS,
    LEVELS,
    PAPER_BUFFER,
    PAPER_RATE,
    RATES,
    bars,
    beside,
    exists,
    kept,
    together,
)
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.parameters import Parameters
from netnice_lab.model.scenario import Scenario

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

"""Bars that are not met, by experiment."""

# Each level alone, and CUBIC alone: does a level have the whole of an idle path?
OURS, TABLE_1 = LEVELS["netnice"][1:], LEVELS["nicer"][1:]
MISSES["nicer-alone"] = misses.read(
    {
        "{mean} of the link: its own queue has it cut to a quarter (level 1) or a twentieth (level 2), which is the "
        "paper's III.D; that it waits for a second such round does not end it": """
            the paper's link is used by: nicer1 nicer2
        """,
    }
)
"""Bars that are not met: LEVEL: RATE/BUFFER …"""


def alone_here(cell: Cell) -> bool:
    """Table I's levels on the paper's link only."""
    return exists(cell) and (cell["protocol"] not in TABLE_1 or cell["rate"] == PAPER_RATE)


EXPERIMENTS["nicer-alone"] = Experiment(
    title="One flow of each level alone, beside CUBIC alone",
    claim="TCP Nicer: lower priority flows also utilize available bandwidth. Ours: 95 % of what CUBIC has, at every "
    "rate.",
    differs="In the settled part of nicer-pairs' runs; nicer-fig7's column of nobody is how long each takes.",
    sweep={"rate": RATES, "buffer": BUFFERS, "protocol": ("cubic", "reno", *OURS, *TABLE_1)},
    exists=alone_here,
    scenario=lambda rate, buffer, protocol, seed: beside(protocol, "", 0, seed, rate, buffer),
    figures=[Figure("buffer", "filled", "protocol", "buffer, BDP", "part of the link's payload", True, panel="rate")],
    tables=[Table("alone", ("rate", "buffer"), "protocol", [Number("filled")])],
    seeds=1,
    quick={"rate": (0.3, 10.0), "buffer": (1.0, 8.5)},
    pinned={"upper": 0.05},
    bars=[
        misses.bar(MISSES["nicer-alone"], f"{level} {rate:g}/{buffer:g}", "upper",
                   {"rate": rate, "buffer": buffer, "protocol": level},
                   {"rate": rate, "buffer": buffer, "protocol": "cubic"}, minimum=0.95)
        for level in OURS for rate in RATES for buffer in BUFFERS if exists({"rate": rate, "buffer": buffer})
    ] + [
        misses.bar(MISSES["nicer-alone"], f"the paper's link is used by {level}", "filled",
                   {"rate": PAPER_RATE, "buffer": PAPER_BUFFER, "protocol": level}, minimum=0.9) for level in TABLE_1
    ],
)  # fmt: skip

# Every pair of priorities, at every rate and buffer: what the upper one keeps.
PAIRS = ("reno:netnice", "reno:netnice1", "reno:netnice2", "netnice:netnice1", "netnice:netnice2", "netnice1:netnice2")
CUBIC = ("cubic:netnice", "cubic:netnice1", "cubic:netnice2")
SLOW = "the path holds seven packets: many that probe are a part of it, {mean} for 19, some of it for fewer"
SHALLOW = "half a BDP: when many come at once packets are lost before a queue shows, and what was lost returns slowly"
DEEP = (
    "the foreground fills so deep a buffer once in the run or not at all, and Nice's threshold is a part of the "
    "largest queue: until then its 19 flows are in the queue too"
)
MORE_THAN_BEFORE = (
    "{mean}: beside 19 flows a foreground keeps less than beside those of the core before, which had .95; not examined"
)
ALONE = "Reno alone has 0.87: it climbs for a minute after a loss, and the lower flow leaves free what it does not have"
MISSES["nicer-pairs"] = misses.read(
    {
        SLOW: """
            goodput reno:netnice x19: 0.3/8.5
            goodput netnice:netnice1 x19: 0.3/8.5
            goodput netnice1:netnice2 x19: 0.3/8.5
            goodput netnice:netnice2 x19: 0.3/8.5
            latency netnice1:netnice2 x19: 0.3/8.5
        """,
        SHALLOW: """
            goodput reno:netnice x19: 10/0.5 1000/0.5
            goodput netnice:netnice1 x19: 10/0.5
        """,
        DEEP: """
            goodput reno:netnice x19: 1000/4
            latency reno:netnice x19: 10/4 1000/4
            goodput cubic:netnice x19: 1000/4
            latency cubic:netnice x19: 1000/4
        """,
        "{mean}, one run; not examined": """
            latency netnice:netnice2 x4: 100/1
        """,
        misses.DRAWN: """
            goodput cubic:netnice x19: 1000/0.5
        """,
        ALONE: """
            sum reno:netnice2 x19: 1000/0.5
        """,
        MORE_THAN_BEFORE: """
            goodput cubic:netnice x19: 100/2 100/4
            goodput reno:netnice x19: 100/4 1000/1 1000/2
            latency reno:netnice x19: 100/4 1000/1 1000/2
        """,
    }
)
"""Bars that are not met: MEASURE UPPER:LOWER xFLOWS: RATE/BUFFER …"""


def here(cell: Cell) -> bool:
    """CUBIC is there where Reno takes a minute to fill the path; fewer lower flows, with one buffer a rate."""
    return (
        exists(cell)
        and (cell["pair"] not in CUBIC or float(cell["rate"]) >= 100)
        and (cell["flows"] in (0, 19) or cell["buffer"] in (1.0, PAPER_BUFFER))
    )


def at_start(pair: str) -> Cell:
    """19 lower flows on the paper's link."""
    return {"rate": PAPER_RATE, "buffer": PAPER_BUFFER, "pair": pair, "flows": 19}


def one_pair(rate: float, buffer: float, pair: str, flows: int, seed: int) -> Scenario:
    """One flow of the upper, later flows of the lower."""
    upper, lower = pair.split(":")
    return beside(upper, lower, flows, seed, rate, buffer)


BOUNDS = [Number("kept", least=0.95), Number("latency", most=1.05)]
EXPERIMENTS["nicer-pairs"] = Experiment(
    title="One flow of each priority with flows of each lower one, beside itself alone",
    claim="TCP Nicer: about 90 % for level 0 over 1, under 50 % for 1 over 2; latency 1.13 at the start, 1.40 for 1 "
    "over 2. Ours: goodput of at least 0.95, latency of at most 1.05 of alone, together 0.90 of the link.",
    differs="The link's payload counts: 0.875 of the paper's rate, whose packets are small, 0.956 of the others. At "
    "0.3 Mbit/s the paper's 50 packets (8.5 BDP). Bars are of the settled part of a run; what is named _start is of "
    "the seconds from the lower flows' start until then: 10, 8, 6, 5 by rate.",
    sweep={"rate": RATES, "buffer": BUFFERS, "pair": (*PAIRS, *CUBIC), "flows": (0, 1, 4, 19)},
    exists=here,
    scenario=one_pair,
    figures=[
        Figure("buffer", "kept", "pair", "buffer, BDP", "goodput of the upper, of alone", True, panel="rate"),
        Figure("buffer", "latency", "pair", "buffer, BDP", "latency of the upper, of alone", True, panel="rate"),
    ],
    tables=[
        Table("settled", ("rate", "buffer"), "pair", BOUNDS, {"flows": 19}),
        Table("start", ("rate", "buffer"), "pair", [Number("kept_start"), Number("latency_start")], {"flows": 19}),
        Table("sum", ("rate", "buffer"), "pair", [Number("filled", least=0.9)], {"flows": 19}),
        Table("four", ("rate", "buffer"), "pair", BOUNDS, {"flows": 4}),
        Table("one", ("rate", "buffer"), "pair", BOUNDS, {"flows": 1}),
    ],
    derive=partial(kept, keys=("rate", "buffer", "pair")),
    seeds=1,
    more_seeds=[({"rate": 0.3}, 3), ({"rate": 10.0}, 3)],
    quick={"rate": (0.3, 10.0), "buffer": (1.0, PAPER_BUFFER)},
    pinned={"upper": 0.10, "upper_start": 0.10, "upper_latency": 0.05, "filled": 0.05},
    bars=[
        bar
        for rate in RATES for buffer in BUFFERS for pair in (*PAIRS, *CUBIC) for flows in (1, 4, 19)
        if here({"rate": rate, "buffer": buffer, "pair": pair, "flows": flows})
        for bar in bars(MISSES["nicer-pairs"], f"{pair} x{flows} {rate:g}/{buffer:g}",
                        {"rate": rate, "buffer": buffer, "pair": pair, "flows": flows})
    ] + [
        Bar(f"the start of 19 {lower} costs less than that of {than}", "upper_start", at_start(f"reno:{lower}"),
            at_start(f"reno:{than}"), minimum=1.05)
        for lower, than in (("netnice1", "netnice"), ("netnice2", "netnice1"))
    ],
)  # fmt: skip

# Flows of one level among themselves: how they share, and what they use.
COMMON, FLOWS = (10.0, 100.0), (2, 4, 16, 64)
MISSES["nicer-together"] = misses.read(
    {
        "the pairs of 64 flows meet: lost packets, and windows below one segment": """
            goodput netnice: 10/64
            jain netnice: 10/64
        """,
        "with a segment each they meet each other's pairs by chance: beyond 5/8 of the path they cannot tell that from "
        "a level above": """
            goodput netnice1: 10/16 10/64 100/64
            goodput netnice2: 10/16 10/64 100/64
        """,
        "siblings used to raise each other, and none is raised any more": """
            jain netnice1: 10/64
            jain netnice2: 10/64
            goodput netnice2: 10/4 100/2
        """,
        misses.EDGE: """
            goodput netnice: 10/16
        """,
        "{mean} of what one has; not examined": """
            goodput netnice1: 100/16
            goodput netnice2: 100/4 100/16
        """,
    }
)
"""Bars that are not met: jain LEVEL or goodput LEVEL: RATE/FLOWS …"""
EXPERIMENTS["nicer-together"] = Experiment(
    title="Flows of one level: Jain's index and goodput",
    claim="Ours: Jain's index of at least 0.95 with 2, 4, 16 and 64 flows, and together 0.95 of what one has.",
    differs="All start within a second, one BDP of buffer. Means over the last two thirds of 90 s at 10 Mbit/s, of "
    "45 s at 100; what is named _start is of the time from the second second until then.",
    sweep={"rate": COMMON, "level": OURS, "flows": (1, *FLOWS)},
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
        for rate in COMMON for level in OURS for flows in FLOWS
        for bar in (
            misses.bar(MISSES["nicer-together"], f"jain {level} {rate:g}/{flows}", "background_fairness",
                       {"rate": rate, "level": level, "flows": flows}, minimum=0.95),
            misses.bar(MISSES["nicer-together"], f"goodput {level} {rate:g}/{flows}", "background",
                       {"rate": rate, "level": level, "flows": flows},
                       {"rate": rate, "level": level, "flows": 1}, minimum=0.95),
        )
    ],
)  # fmt: skip

# How many more levels there could be: the same core with other parameters, between netnice1 and 2, and below.
OTHER: dict[str, dict[str, int]] = {
    "between": {"alpha": 8, "band_packets": 36, "queue_floor": 205, "max_gap": 3000},
    "half": {"alpha": 2, "band_packets": 13, "queue_floor": 60},
    "quarter": {"alpha": 1, "band_packets": 6, "queue_floor": 30},
    "meeker": {
        "alpha": 2, "band_packets": 13, "queue_floor": 100, "fraction": 50, "max_gap": 8000,
        "min_window": 24,
    },
}  # fmt: skip
"""What differs from netnice2 in levels that do not exist."""


def changes(algorithm: str, level: str) -> tuple[tuple[str, int], ...]:
    """What makes a level, an existing or another one, of an algorithm."""
    found = Parameters.read()
    own, wanted = (dict(zip(found.names, found.rows[one], strict=True))
                   for one in (algorithm, "netnice2" if level in OTHER else level))  # fmt: skip
    return tuple(sorted((wanted | OTHER.get(level, {})).items() - own.items()))


def between_levels(rate: float, pair: str, first: str, flows: int, seed: int) -> Scenario:
    """The two algorithms of that core, each with the parameters of a level."""
    upper, lower = pair.split(":")
    buffer = PAPER_BUFFER if rate == PAPER_RATE else 1.0
    scenario = beside("netnice1", "netnice2", flows, seed, rate, buffer, upper_first=first == "upper")
    return replace(scenario, parameters=tuple(
        (algorithm, changed) for algorithm, level in (("netnice1", upper), ("netnice2", lower))
        if (changed := changes(algorithm, level))
    ))  # fmt: skip


def one_beside(pair: str, flows: int) -> Cell:
    """One flow, and later none or one of the lower, at 10 Mbit/s."""
    return {"rate": 10.0, "pair": pair, "first": "upper", "flows": flows}


DISTINCT = dict.fromkeys(
    ("netnice2:half", "netnice2:meeker"), "{mean} of alone: a limit of less than 1.6 packets does make a further level"
)
"""Pairs that are distinct after all."""
NEIGHBOURS = (
    "netnice2:netnice2", "netnice1:netnice2", "netnice1:between", "between:netnice2",
    "netnice2:half", "half:quarter", "netnice2:meeker",
)  # fmt: skip
EXPERIMENTS["nicer-more"] = Experiment(
    title="Levels between netnice1 and netnice2, and below netnice2",
    claim="TCP Nicer: extending beyond this many levels will require more advanced techniques. Ours, one beside one "
    "at 10 Mbit/s: parameters alone make no further level that is distinct.",
    differs="Both are the same core, with other parameters. Beside 19 lower flows nearly every pair keeps 0.95 at "
    "10 and 100 Mbit/s, but so does netnice2 beside its equals: 19 keep each other small. One beside one "
    "tells levels apart.",
    sweep={"rate": (PAPER_RATE, 10.0, 100.0), "pair": NEIGHBOURS, "first": ("upper", "lower"), "flows": (0, 1, 19)},
    scenario=between_levels,
    figures=[Figure("pair", "kept", "rate", "", "goodput of the upper, of alone")],
    tables=[
        Table("more", ("pair", "first", "flows"), "rate", [
            Number("kept", least=0.95), Number("latency", most=1.05), Number("filled", least=0.9),
            Number("filled_alone"),
        ])
    ],
    derive=partial(kept, keys=("rate", "pair", "first")),
    seeds=1,
    pinned={"upper": 0.10},
    bars=[
        Bar(f"{pair} is not distinct by parameters alone", "upper", one_beside(pair, 1), one_beside(pair, 0),
            maximum=0.95, holds=pair not in DISTINCT, reason=DISTINCT.get(pair, ""))
        for pair in ("netnice1:between", "between:netnice2", "netnice2:half", "netnice2:meeker")
    ],
)  # fmt: skip
