# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A route change: the RTT steps up or down by 100 ms under a flow alone."""

from experiments.low_priority.world.access import LEVELS, Access, bulk, scenario
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Change

CHANGE, AFTER = 60.0, 10.0
SHORT, LONG = 40_000, 140_000
STANDS = "a longer way is a queue until eight pairs, 2 s apart, have met it unmoved; over after half a minute"
KNOWN = {
    "netnice1": STANDS,
    "netnice2": STANDS,
    "nnledbatpp": "a longer way looks like a queue until the base is forgotten, after eight spans of 75 s",
}


def steps(protocol: str, step: str, minutes: int, seed: int) -> Scenario:
    """The delay lies on the way of the ACKs, from the router to the first host."""
    before, after = (SHORT, LONG) if step == "up" else (LONG, SHORT)
    change = Change(CHANGE, "router", f"qdisc change dev router-0 root netem delay {after}us limit 1000000")
    start = CHANGE + AFTER + (minutes - 1) * 60.0
    return scenario(
        Access(10_000_000, before, 175_000), (bulk("first", protocol, (0.0, 1.0)), change), (protocol,),
        start + 30.0, start, seed, sample=1.0,
    )  # fmt: skip


experiment = Experiment(
    title="Route change at 10 Mbit/s: RTT 40 to 140 ms and back, goodput from 10 s and 11 minutes after it",
    claim="Not in the papers; Nice and LEDBAT name it as a weakness.",
    differs="Only the way back becomes longer: one-way delays cannot see it.",
    sweep={
        "protocol": ("cubic", *LEVELS, "nnledbat", "nnledbatpp", "nnlp"), "step": ("up", "down"), "minutes": (1, 12),
    },
    scenario=lambda protocol, step, minutes, seed: steps(protocol, step, minutes, seed),
    figures=[Figure("minutes", "first", "protocol", "minutes", "goodput, Mbit/s", panel="step")],
    seeds=1,
    quick={"protocol": ("cubic", "netnice1"), "minutes": (1,)},
    pinned={"first": 0.05},
    bars=[
        Bar(f"{name}, RTT {step}, {minutes} min", "first", {"protocol": name, "step": step, "minutes": minutes},
            {"protocol": "cubic", "step": step, "minutes": minutes}, minimum=0.85)
        for name, step, minutes in (
            *((level, "down", 1) for level in LEVELS), *((level, "up", 12) for level in LEVELS),
            ("netnice", "up", 1), ("nnledbat", "down", 1), ("nnledbat", "up", 1),
            ("nnledbatpp", "down", 1), ("nnledbatpp", "up", 12),
        )
    ] + [
        Bar(f"{name}, RTT up, 1 min", "first", {"protocol": name, "step": "up", "minutes": 1},
            {"protocol": "cubic", "step": "up", "minutes": 1}, minimum=0.85, holds=False, reason=reason)
        for name, reason in KNOWN.items()
    ],
)  # fmt: skip
