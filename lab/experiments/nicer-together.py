# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Flows of one level among themselves: how they share, and what they use."""

from netnice_lab.experiment import Experiment, Figure
from netnice_lab.levels import together

experiment = Experiment(
    title="Flows of one level: Jain's index and goodput",
    claim="Ours: Jain's index of at least 0.95 with 2, 4, 16 and 64 flows.",
    sweep={"preset": ("netnice",), "rate": (10.0,), "level": (2, 3), "flows": (1, 2, 4, 16, 64)},
    scenario=lambda preset, rate, level, flows, seed: together(preset, level, flows, seed, rate),
    figures=[
        Figure("flows", "background_fairness", "level", "flows", "Jain's index", True, panel="preset"),
        Figure("flows", "background", "level", "flows", "Mbit/s", True, True, panel="preset"),
    ],
    seeds=1,
    pinned={"background": 0.10, "background_fairness": 0.10},
)
