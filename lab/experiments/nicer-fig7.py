# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 7: four priorities start one after the other, the lowest first."""

from netnice_lab.experiment import Experiment, Figure
from netnice_lab.levels import DIFFERS, LEVELS, staggered

experiment = Experiment(
    title="TCP Nicer, figure 7: each newcomer's goodput from 20 RTT after its start",
    claim="The lowest priority flow starts first and is taken over when the medium priority flow starts. Similarly, "
    "the high priority and foreground transfers take over when they start.",
    differs=DIFFERS,
    sweep={"preset": tuple(LEVELS), "stage": (0, 1, 2, 3)},
    scenario=lambda preset, stage, seed: staggered(preset, stage, seed),
    figures=[Figure("stage", "newcomer", "preset", "newcomer: level 2, 1, 0, foreground", "its goodput, Mbit/s")],
    pinned={"newcomer": 0.10},
)
