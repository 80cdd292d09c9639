# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 20 with table 2: Jain's index of background flows that start one after another."""

from experiments.vulture.world.figures import FAITHFUL, NOISE, faithful, report_figure
from experiments.vulture.world.scenarios import fairness
from netnice_lab.model.experiment import Bar, Figure, Number, Table

PAPER = {2: 0.96, 4: 0.99, 8: 0.98, 16: 0.99, 64: 0.99}
LEAST = {2: 0.99, 4: 0.99, 8: 0.97, 16: 0.97, 64: 0.95}

experiment = report_figure(
    title="Vulture, figure 20 and table 2: fairness of background flows",
    claim="Jain's fairness index for 2, 4, 8, 16, 64 flows: 0.96, 0.99, 0.98, 0.99, 0.99.",
    sweep={"receiver": ("tide", "as_sender", FAITHFUL), "flows": tuple(LEAST)},
    scenario=fairness,
    seeds=5,
    figures=[Figure("flows", "background_fairness", "receiver", "flows", "Jain's index", True)],
    tables=[Table("jain", ("receiver",), "flows", [Number("background_fairness"), Number("background", 1)])],
    quick={"flows": (2, 8)},
    pinned=("background_fairness", "background"),
    bars=[
        Bar(f"{said}{n} flows", "background_fairness", {"receiver": name, "flows": n}, minimum=least)
        for name, said in (("tide", ""), ("as_sender", "as the sender, "))
        for n, least in LEAST.items()
    ]
    + [faithful(f"{n} flows", "background_fairness", paper, {"flows": n}, n > 4, NOISE) for n, paper in PAPER.items()],
)
