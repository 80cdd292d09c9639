# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The late comer: a second flow starts when the first has filled the queue to its target."""

from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.lowprio import LINKS, LOW, bulk, scenario

JOINS, AFTER, MEASURED = 30.0, 60.0, 30.0
KNOWN = "the newcomer takes the first flow's queue for the base: RFC 6817's known flaw, which the core keeps"

experiment = Experiment(
    title="Late comer: Jain's index from 60 s after the second flow's start, 10 Mbit/s, 40 ms, 400 ms of buffer",
    claim="LEDBAT: the newcomer starves the first. LEDBAT++ mends that with its slowdowns.",
    sweep={"protocol": LOW, "link": ("deep",)},
    scenario=lambda protocol, link, seed: scenario(
        LINKS[link],
        (bulk("first", protocol, (0.0, 1.0), group="background"),
         bulk("second", protocol, (JOINS, JOINS + 1.0), group="background")),
        (protocol,), JOINS + AFTER + MEASURED, JOINS + AFTER, seed,
    ),
    figures=[Figure("protocol", "background_fairness", "link", "", "Jain's index of both")],
    seeds=5,
    pinned={"background_fairness": 0.05, "background": 0.05},
    bars=[
        Bar("LEDBAT++: fair", "background_fairness", {"protocol": "nnledbatpp"}, minimum=0.95),
        Bar("LEDBAT: fair", "background_fairness", {"protocol": "nnledbat"}, minimum=0.95, holds=False, reason=KNOWN),
    ],
)  # fmt: skip
