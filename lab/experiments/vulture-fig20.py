# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 20 with table 2: Jain's index of background flows that start one after another."""

from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.yielding import DIFFERS, NOISE, fairness, faithful

PAPER = {2: 0.96, 4: 0.99, 8: 0.98, 16: 0.99, 64: 0.99}
LEAST = {2: 0.99, 4: 0.99, 8: 0.97, 16: 0.97, 64: 0.95}

experiment = Experiment(
    title="Vulture, figure 20 and table 2: fairness of background flows",
    claim="Jain's fairness index for 2, 4, 8, 16, 64 flows: 0.96, 0.99, 0.98, 0.99, 0.99.",
    differs=DIFFERS,
    sweep={"receiver": ("tide", "vulture_jiffies"), "flows": tuple(LEAST)},
    scenario=lambda receiver, flows, seed: fairness(receiver, flows, seed),
    figures=[Figure("flows", "background_fairness", "receiver", "flows", "Jain's index", True)],
    seeds=1,
    quick={"flows": (2, 8)},
    pinned={"background_fairness": 0.02, "background": 0.05},
    bars=[
        Bar(f"{n} flows", "background_fairness", {"receiver": "tide", "flows": n}, minimum=least)
        for n, least in LEAST.items()
    ]
    + [faithful(f"{n} flows", "background_fairness", paper, {"flows": n}, n != 4, NOISE) for n, paper in PAPER.items()],
)
