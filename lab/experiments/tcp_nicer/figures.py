# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figures 1 to 7: one flow with many of a lower level beside it, and four levels that start in turns."""

import itertools
from functools import partial

from experiments.tcp_nicer.levels import LEVELS, PAPER_RATE, RATES, arriving, bars, beside, kept, payload
from netnice_lab.judgement import misses
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}
"""Bars that are not met, by experiment."""

DIFFERS = (
    "Linux 6.12's TCP instead of ns-2's: delayed ACKs in pairs, SACK, windows in segments of 460 bytes. The base "
    "RTT is the paper's latency twice, as its topology has no other. Mean over 90 s from ten seconds after the lower "
    "flows' start, where the paper shows curves; latency is the mean of the smoothed RTT over them."
)
NINETEEN = "{mean}: a pair of each of 19 flows is a tenth of this link's buffer; more was not examined"
SLOW_WIRE = "a pair takes 27 ms on this wire: those with which 19 flows of level 1 ask are a tenth of it"
CAPACITY = payload(PAPER_RATE)
FULL = "{mean} of alone: alone, too, Reno fills the 50 packets of queue in these seconds, and no queue is longer"
HALF = "{mean} Mbit/s: Table I's level 1 has .61 of the link even alone, of which nine flows of level 2 leave .29"
ONE_LINK = "{mean} of alone: Table I's level 1 alone keeps no queue, and beside nine it has no more of one"
NINE = "{mean} of what the nine have together; of level 1 alone they leave .29, four times what one of them has"


def nicer(flows: int) -> Cell:
    """Table I's own levels."""
    return {"preset": "nicer", "flows": flows}


def figure(
    number: int,
    upper: int,
    lower: int,
    claim: str,
    flows: tuple[int, ...] = (19,),
    missed: misses.Misses | None = None,
    paper: tuple[Bar, ...] = (),
) -> Experiment:
    """One of the paper's figures 1 to 6.

    `missed`: the bars that are not met, MEASURE PRESET xFLOWS, by the reason. `paper`: what it says of Table I.
    """
    names = ("the foreground", "level 0", "level 1", "level 2")
    table = MISSES[f"nicer-fig{number}"] = misses.read(missed or {})
    return Experiment(
        title=f"TCP Nicer, figure {number}: {names[upper]} with {names[lower]} beside it",
        claim=claim,
        differs=DIFFERS,
        sweep={"preset": tuple(LEVELS), "flows": (0, *flows)},
        scenario=lambda preset, flows, seed: beside(LEVELS[preset][upper], LEVELS[preset][lower], flows, seed),
        figures=[
            Figure("flows", "upper", "preset", "lower flows", "upper flow, Mbit/s"),
            Figure("flows", "upper_latency", "preset", "lower flows", "its latency, ms"),
        ],
        timelines=[
            course
            for count in flows for preset in LEVELS for course in over_time.courses({"preset": preset, "flows": count})
        ],
        tables=[
            Table("paper", ("preset",), "flows", [
                Number("kept", least=0.95), Number("latency", most=1.05), Number("kept_start"),
                Number("latency_start"), Number("filled", least=0.9),
            ])
        ],
        derive=partial(kept, keys=["preset"]),
        seeds=5,
        pinned={"upper": 0.10, "lower": 0.25, "upper_latency": 0.05},
        bars=[
            bar
            for preset in LEVELS for count in flows
            for bar in bars(table, f"{preset} x{count}", {"preset": preset, "flows": count})
        ] + list(paper),
    )  # fmt: skip


EXPERIMENTS["nicer-fig1"] = figure(
    1, 0, 1,
    "The foreground recovers after a period of instability and again utilizes most of the bandwidth; its latency rises "
    "by about 13 % in that period only.",
    missed={
        "the path holds seven packets: 19 flows that each probe are a part of it, {mean} is left": """
            goodput nicer: x19
            goodput netnice: x19
        """,
    },
    paper=(
        Bar("the foreground alone fills the link", "filled", nicer(0), minimum=0.95),
        Bar("its goodput falls in the first ten seconds", "upper_start", nicer(19), nicer(0), maximum=0.9),
        Bar("its latency jumps by about 13 % in them", "upper_latency_peak", nicer(19), nicer(0), 1.08, 1.18,
            holds=False, reason=FULL),
    ),
)  # fmt: skip

EXPERIMENTS["nicer-fig2"] = figure(
    2, 0, 2,
    "The foreground reaches near-optimal utilization in steady state.",
    missed={misses.EDGE: "goodput nicer: x19"},
)  # fmt: skip

EXPERIMENTS["nicer-fig3"] = figure(
    3, 0, 3,
    "In steady state the background flows have almost no effect on the foreground flow.",
)  # fmt: skip

EXPERIMENTS["nicer-fig4"] = figure(
    4, 1, 2,
    "The medium priority flows cause roughly a 10 % decrease in throughput and a negligible increase in latency.",
    missed={
        "Table I's own parameters; the paper too loses about 10 % here": "goodput nicer: x19",
        "{mean} of alone with Table I's own parameters: 10 ms, less than a packet takes on this wire":
            "latency nicer: x19",
        SLOW_WIRE: "goodput netnice: x19",
        NINETEEN: "latency netnice: x19",
    },
    paper=(
        Bar("level 0 loses about 10 %", "upper", nicer(19), nicer(0), 0.85, 0.95),
        Bar("its goodput varies by a tenth and more", "upper_spread", nicer(19), minimum=0.1),
        Bar("its goodput varies twice as much as alone", "upper_spread", nicer(19), nicer(0), minimum=2.0),
    ),
)  # fmt: skip

EXPERIMENTS["nicer-fig5"] = figure(
    5, 1, 3,
    "As expected the interference is minimal.",
    missed={
        "Table I's own parameters": "goodput nicer: x19",
        NINETEEN: "goodput netnice: x19",
    },
)  # fmt: skip

EXPERIMENTS["nicer-fig6"] = figure(
    6, 2, 3,
    "Even a single low priority flow makes the medium flow's throughput spike downward; with ten flows it averages "
    "slightly under 50 %, with more it is worse; latency +40 %.",
    flows=(1, 9, 19),
    missed={
        "Table I's own parameters: the paper's has under 50 % beside ten": """
            goodput nicer: x1 x9 x19
            latency nicer: x19
        """,
        "Table I's level 1 has 0.6 of the link even alone": "sum nicer: x1 x9 x19",
        "the pairs of many flows that arrive at once are a second's worth of this link: level 1 falls below one "
        "segment and is slow to return": """
            goodput netnice: x9 x19
        """,
        NINETEEN: "latency netnice: x19",
    },
    paper=(
        Bar("beside one its goodput spikes downward", "upper_spikes", nicer(1), minimum=2.0),
        Bar("alone it does not", "upper_spikes", nicer(0), maximum=0.0, holds=False,
            reason="{mean} times in 90 s: alone Table I's level 1 swings between its own queue and nothing"),
        Bar("one flow of level 1 outperforms nine of level 2", "ahead", nicer(9), minimum=1.0,
            holds=False, reason=NINE),
        Bar("nine flows of level 2 interfere with level 1", "upper", nicer(9), nicer(0), maximum=0.8),
        Bar("beside nine level 1 has slightly under half of the link", "upper", nicer(9), None,
            0.4 * CAPACITY, 0.5 * CAPACITY, holds=False, reason=HALF),
        Bar("with more flows it is worse", "upper", nicer(19), nicer(9), maximum=0.95),
        Bar("beside nine its latency rises by about 40 %", "upper_latency", nicer(9), nicer(0), 1.3, 1.5,
            holds=False, reason=ONE_LINK),
        Bar("a sensitive detection with a strong answer leaves an empty link unused", "filled", nicer(0), maximum=0.8),
    ),
)  # fmt: skip

# What the paper says of one figure beside another, of the same runs.
COMBINATIONS = tuple(f"{upper}:{lower}" for upper, lower in itertools.combinations(LEVELS["nicer"], 2))


def pair_of(pair: str, flows: int, seed: int) -> Scenario:
    """One flow of the upper, later flows of the lower."""
    upper, lower = pair.split(":")
    return beside(upper, lower, flows, seed)


def combined(pair: str) -> Cell:
    """An upper flow with 19 lower ones."""
    return {"pair": pair, "flows": 19}


EXPERIMENTS["nicer-combinations"] = Experiment(
    title="TCP Nicer, figures 1 to 6 beside each other: Table I's pairs, one flow with 19 of a lower level",
    claim="The startup effects of level 1 are less significant than those of level 0, those of level 2 are further "
    "reduced. Particular combinations of foreground and background flows work better than others.",
    differs=DIFFERS,
    sweep={"pair": COMBINATIONS, "flows": (0, 19)},
    scenario=pair_of,
    figures=[Figure("pair", "kept", "flows", "", "goodput of the upper, of alone")],
    tables=[
        Table("combinations", ("pair",), "flows", [
            Number("kept"), Number("latency"), Number("kept_start"), Number("upper_spread"), Number("ahead", 1),
        ])
    ],
    derive=partial(kept, keys=["pair"]),
    seeds=5,
    pinned={"upper": 0.10, "upper_start": 0.10},
    bars=[
        *(Bar(f"the start of level {number} costs less than that of level {number - 1}", "upper_start",
              combined(f"reno:nicer{number}"), combined(f"reno:nicer{number - 1}"), minimum=1.05) for number in (1, 2)),
        Bar("the foreground has less beside level 0 than beside level 2", "upper", combined("reno:nicer0"),
            combined("reno:nicer2"), maximum=0.9),
        Bar("level 0 has less beside level 1 than beside level 2", "upper", combined("nicer0:nicer1"),
            combined("nicer0:nicer2"), maximum=0.95),
        Bar("level 0 varies more beside level 1 than beside level 2", "upper_spread", combined("nicer0:nicer1"),
            combined("nicer0:nicer2"), minimum=1.05),
    ],
)  # fmt: skip

# Four priorities start one after the other, the lowest first.
OLDER = ("none", "3", "2", "1", "32", "321", "19x3", "19x2", "19x1")
"""Flows that are there: none, one of a lower priority, one of each (the paper's figure), or 19 of one."""
LONGEST = 20.0
"""Round trips."""
MISSES["nicer-fig7"] = misses.read(
    {
        "the path holds seven packets: those who are there give way in {mean} RTT": """
            netnice 0.3 0: 19x1
        """,
        "it comes, but slowly: its own slow start ends at the lower flow's queue, then a segment a round trip": """
            netnice 10 1: 3 2
            netnice 10 2: 3 19x3
            netnice 100 1: 2 32 19x2
            netnice 100 2: 3 19x3
            netnice 1000 1: 3 2 32 19x3 19x2
            netnice 1000 2: 3 19x3
        """,
        "met until siblings' mean became one of 66 ms; why not now was not examined": """
            netnice 0.3 1: 19x2
        """,
        "Table I's own parameters; level 1 has 0.6 of the link even alone": """
            nicer 0.3 0: 19x3 19x2 19x1
            nicer 0.3 1: 19x3 19x2
            nicer 0.3 2: 3 19x3
        """,
        "a packet takes 27 ms of this link: 19 pairs are half a second of it": """
            netnice 0.3 2: 19x3
            netnice 0.3 1: 19x3
            netnice 0.3 0: 19x3 19x2
        """,
        "two seconds later than by the core before; not examined": """
            netnice 10 1: 19x2
        """,
        "not examined; likely it leaves slow start by the queue of a burst, and then grows by an eighth a round": """
            netnice 100 0: 1 321
            netnice 1000 0: 321
        """,
    }
)
"""Bars that are not met: PRESET RATE JOINS: OLDER …"""


def lower(newcomer: int) -> str:
    """All lower priorities, the lowest first."""
    return "321"[: 3 - newcomer]


def here(cell: Cell) -> bool:
    """The flows that are there are lower; Table I's levels at the paper's rate only."""
    below, older = lower(int(cell["joins"])), str(cell["older"])
    return older in {"none", below, *below, *(f"19x{one}" for one in below)} and (
        cell["preset"] == "netnice" or cell["rate"] == PAPER_RATE
    )


def at_paper(preset: str, joins: int, older: str) -> Cell:
    """A cell at the paper's rate."""
    return {"preset": preset, "rate": PAPER_RATE, "joins": joins, "older": older}


def run(preset: str, rate: float, joins: int, older: str, seed: int) -> Scenario:
    """The older, then the newcomer."""
    names = LEVELS[preset]
    flows = 19 if older.startswith("19x") else 1
    before = () if older == "none" else tuple(names[int(number)] for number in older.removeprefix("19x"))
    return arriving(names[joins], before, seed, rate, flows)


EXPERIMENTS["nicer-fig7"] = Experiment(
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
        Bar("Table I: level 2 is taken over when level 1 starts", "newcomer", at_paper("nicer", 2, "3"),
            at_paper("nicer", 2, "none"), minimum=0.5),
        *(Bar(f"Table I: a newcomer of priority {joins} has more than {older}", "ahead",
              at_paper("nicer", joins, older), minimum=1.0) for joins, older in ((2, "3"), (1, "32"), (0, "321"))),
    ] + [
        misses.bar(MISSES["nicer-fig7"], f"{preset} {rate:g} {joins} {older}", "held",
                   {"preset": preset, "rate": rate, "joins": joins, "older": older}, maximum=LONGEST)
        for preset in LEVELS for rate in RATES for joins in (2, 1, 0) for older in OLDER[1:]
        if here({"preset": preset, "rate": rate, "joins": joins, "older": older})
    ],
)  # fmt: skip
