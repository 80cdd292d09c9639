# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, section III: Table I's parameters, one changed at a time, and the rounds that its answer waits (III.D)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.tcp_nicer.levels import PAPER_RATE, beside, payload
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}
LEVELS = ("nicer0", "nicer1", "nicer2")
ALONE, ONE, FLOWS = 0, 1, 19
"""Lower flows: with none the level itself is the upper flow and has the path to itself."""
RENO = 0.95 * payload(PAPER_RATE)
"""What a Reno flow has that is not interfered with, Mbit/s: alone it has all of the payload (nicer-fig1)."""
SEVEN = "{mean} Mbit/s: the path holds seven packets, and 19 flows that each probe are a part of it, as with Table I"
SWEPT = {
    "frac": ("fraction", 100.0, (0.0, 0.05, 0.1, 0.3, 0.6, 0.9, 1.0)),
    "thresh": ("rtt_limit", 100.0, (1.02, 1.05, 1.1, 1.2, 1.5, 2.0)),
    "mul": ("keep", 2048.0, (0.1, 0.5, 1.0, 1.5, 1.75, 2.0)),
    "add": ("add", 4096.0, (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)),
    "delay": ("delay", 1.0, (0.0, 1.0, 2.0, 4.0, 8.0)),
}
"""The paper's name: ours, how many of our units are one of the paper's, the paper's values."""
BELOW = (("mul", 1.5), ("add", 0.5))
"""Below what the paper calls the bounds of a proper back-off, 1.75 and 1."""
VALUES = tuple(sorted({value for _, _, values in SWEPT.values() for value in values}))


def here(cell: Cell) -> bool:
    """The values of a parameter; one flow beside Reno where the paper names a bound for it."""
    bound = cell["level"] == "nicer0" and cell["parameter"] in ("frac", "mul", "add")
    return cell["value"] in SWEPT[str(cell["parameter"])][2] and (cell["flows"] != ONE or bound)


def changed(level: str, parameter: str, value: float, flows: int, seed: int) -> Scenario:
    """Flows of a level beside a Reno flow, or one of it alone, on the paper's link; a parameter is not Table I's."""
    name, unit, _ = SWEPT[parameter]
    made = beside("reno", level, flows, seed) if flows else beside(level, level, 0, seed)
    return replace(made, parameters=((level, ((name, round(value * unit)),)),))


def parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Beside what Reno keeps of 19, what a flow of the level has alone, and how steadily."""
    keys = ["level", "parameter", "value", "seed"]
    alone = frame[frame.flows == ALONE].set_index(keys)[["filled", "upper_spread"]]
    return frame[frame.flows == FLOWS].join(alone.set_axis(["alone", "alone_spread"], axis="columns"), on=keys)


def at(level: str, parameter: str, value: float, flows: int = FLOWS) -> Cell:
    """A cell."""
    return {"level": level, "parameter": parameter, "value": value, "flows": flows}


EXPERIMENTS["nicer-parameters"] = Experiment(
    title="TCP Nicer, section III: Table I with one parameter changed, flows beside Reno and one alone",
    claim="frac > 0 is the lower bound for a reasonable throughput on an empty link, .9 the largest before Reno is "
    "interfered with; thresh is most stable between 1.1 and 1.2; mul below 1.75 and add below 1 back off properly; a "
    "sensitive detection with a strong decrease oscillates, and an answer delayed by a round prevents it.",
    differs="The link of the paper's figures. Alone is the part of it that one flow has.",
    sweep={"level": LEVELS, "parameter": tuple(SWEPT), "value": VALUES, "flows": (ALONE, ONE, FLOWS)},
    exists=here,
    scenario=changed,
    figures=[
        Figure("value", "upper", "level", "value", "Reno's Mbit/s beside 19", panel="parameter"),
        Figure("value", "alone", "level", "value", "part of the link alone", panel="parameter"),
    ],
    tables=[
        Table(parameter, ("level",), "value", [Number("upper", 3), Number("alone"), Number("alone_spread")],
              {"parameter": parameter})
        for parameter in SWEPT
    ],
    derive=parts,
    seeds=3,
    pinned={"upper": 0.10, "filled": 0.10},
    bars=[
        Bar("frac 0 leaves a level alone less than .9", "filled", at("nicer0", "frac", 0.0, ALONE),
            at("nicer0", "frac", 0.9, ALONE), maximum=0.9, holds=False,
            reason="{mean}: level 0 alone keeps fewer segments queued than its threshold, so none is slow"),
        Bar("frac .05 leaves a level alone about as much as .9", "filled", at("nicer0", "frac", 0.05, ALONE),
            at("nicer0", "frac", 0.9, ALONE), minimum=0.9),
        *(Bar(f"{level}: Reno has about as much beside frac .9 as beside .1", "upper", at(level, "frac", 0.9),
              at(level, "frac", 0.1), 0.9, 1.1) for level in LEVELS),
        *(Bar(f"{level}: alone it has about as much with frac .9 as with .1", "filled", at(level, "frac", 0.9, ALONE),
              at(level, "frac", 0.1, ALONE), 0.9, 1.1) for level in LEVELS),
        Bar("frac 1 takes more from Reno than .9", "upper", at("nicer0", "frac", 1.0), at("nicer0", "frac", 0.9),
            maximum=1.0),
        Bar("one flow with frac .9 does not interfere with Reno", "upper", at("nicer0", "frac", 0.9, ONE),
            minimum=RENO),
        Bar("one flow with frac 1 does", "upper", at("nicer0", "frac", 1.0, ONE), maximum=RENO),
        Bar("mul 2 takes more from Reno than 1.75", "upper", at("nicer0", "mul", 2.0), at("nicer0", "mul", 1.75),
            maximum=1.0),
        Bar("add 4 takes more from Reno than 1", "upper", at("nicer0", "add", 4.0), at("nicer0", "add", 1.0),
            maximum=1.0),
        *(Bar(f"one flow with {name} {value:g} backs off before Reno", "upper", at("nicer0", name, value, ONE),
              minimum=RENO) for name, value in BELOW),
        *(Bar(f"19 flows with {name} {value:g} back off before Reno", "upper", at("nicer0", name, value),
              minimum=RENO, holds=False, reason=SEVEN) for name, value in BELOW),
        Bar("a stronger decrease has a level alone oscillate", "upper_spread", at("nicer0", "mul", 0.1, ALONE),
            at("nicer0", "mul", 1.75, ALONE), minimum=2.0),
        *(Bar(f"{level}: thresh 1.02 leaves it less alone than 1.2", "filled", at(level, "thresh", 1.02, ALONE),
              at(level, "thresh", 1.2, ALONE), maximum=1.0) for level in LEVELS),
        *(Bar(f"{level}: thresh 2 takes more from Reno than 1.2", "upper", at(level, "thresh", 2.0),
              at(level, "thresh", 1.2), maximum=1.0) for level in LEVELS),
        *(Bar(f"{level}: alone it is less steady with thresh 1.05 than with 1.1", "upper_spread",
              at(level, "thresh", 1.05, ALONE), at(level, "thresh", 1.1, ALONE), minimum=1.0) for level in LEVELS),
        *(Bar(f"{level}: Reno is less steady beside thresh 1.5 than beside 1.2", "upper_spread",
              at(level, "thresh", 1.5), at(level, "thresh", 1.2), minimum=1.0) for level in LEVELS),
        *(Bar(f"{level}: a round's delay gives more alone than none", "filled", at(level, "delay", 1.0, ALONE),
              at(level, "delay", 0.0, ALONE), minimum=1.0) for level in LEVELS),
        Bar("nicer2 gains by the delay", "filled", at("nicer2", "delay", 1.0, ALONE), at("nicer2", "delay", 0.0, ALONE),
            minimum=1.05),
        Bar("nicer0 gains less", "filled", at("nicer0", "delay", 1.0, ALONE), at("nicer0", "delay", 0.0, ALONE),
            maximum=1.05),
        Bar("nicer2 is steadier with the delay than without", "upper_spread", at("nicer2", "delay", 1.0, ALONE),
            at("nicer2", "delay", 0.0, ALONE), maximum=0.9),
        Bar("nicer2 without the delay leaves an empty link unused", "filled", at("nicer2", "delay", 0.0, ALONE),
            maximum=0.8),
        Bar("nicer2 without the delay oscillates more than nicer0", "upper_spread", at("nicer2", "delay", 0.0, ALONE),
            at("nicer0", "delay", 0.0, ALONE), minimum=2.0),
    ],
)  # fmt: skip


def waiting(delay: int, flows: int, seed: int) -> Scenario:
    """Level 1, which answers a congested round so many rounds later, beside flows of level 2 as Table I has it."""
    return replace(beside("nicer1", "nicer2", flows, seed), parameters=(("nicer1", (("delay", delay),)),))


EXPERIMENTS["nicer-delay"] = Experiment(
    title="TCP Nicer, section III.D: rounds that level 1 waits before it answers, alone and beside nine of level 2",
    claim="By varying the number of RTTs to wait before reacting the behavior of concurrent flows of different "
    "priority levels might be tuned more finely.",
    differs="The link of figure 6, and its flows.",
    sweep={"delay": (0, 1, 2, 4, 8), "flows": (0, 9)},
    scenario=waiting,
    figures=[Figure("delay", "upper", "flows", "rounds", "level 1's Mbit/s")],
    tables=[Table("delay", ("flows",), "delay", [Number("upper"), Number("lower"), Number("ahead", 1)])],
    seeds=5,
    pinned={"upper": 0.10},
    bars=[
        Bar("beside nine of level 2 level 1 keeps more with four rounds than with one", "upper",
            {"delay": 4, "flows": 9}, {"delay": 1, "flows": 9}, minimum=1.05),
        Bar("and less with none", "upper", {"delay": 0, "flows": 9}, {"delay": 1, "flows": 9}, maximum=0.95),
        Bar("alone it has more with four rounds than with one", "upper", {"delay": 4, "flows": 0},
            {"delay": 1, "flows": 0}, minimum=1.05, holds=False,
            reason="{mean} of it: alone its own queue comes and stays, whichever round is answered"),
    ],
)  # fmt: skip
