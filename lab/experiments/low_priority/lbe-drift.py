# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Base-delay drift: what a flow alone queues after five, fifteen and thirty minutes."""

from experiments.low_priority.world.access import LEVELS, Access, bulk, scenario
from netnice_lab.model.experiment import Bar, Experiment, Figure

LINK = Access(2_000_000, 50_000, 500_000)
"""Two seconds of buffer: room for a base that drifts."""
LOOK = 120.0
"""The last seconds of the run are measured."""
KNOWN = "after ten minutes its own queue is the smallest delay it remembers; the core keeps to the RFC"

experiment = Experiment(
    title="A flow alone at 2 Mbit/s, 50 ms: its queue after 5, 15 and 30 minutes",
    claim="Ros and Welzl (2013): a long-lived LEDBAT flow adds more and more delay, one target every ten minutes.",
    sweep={"protocol": (*LEVELS, "nnledbat", "nnledbatpp", "nnlp"), "minutes": (5, 15, 30)},
    scenario=lambda protocol, minutes, seed: scenario(
        LINK, (bulk("first", protocol, (0.0, 1.0)),), (protocol,),
        minutes * 60.0, minutes * 60.0 - LOOK, seed, sample=1.0,
    ),
    figures=[Figure("minutes", "queue", "protocol", "minutes", "mean queue, bytes")],
    seeds=1,
    quick={"protocol": ("netnice",), "minutes": (5,)},
    pinned={"queue": 0.10, "first": 0.02},
    bars=[
        Bar(f"{name}: no more after 30 minutes than after 5", "queue", {"protocol": name, "minutes": 30},
            {"protocol": name, "minutes": 5}, maximum=1.25, holds=name != "nnledbat", reason=KNOWN)
        for name in (*LEVELS, "nnledbat", "nnledbatpp")
    ],
)  # fmt: skip
