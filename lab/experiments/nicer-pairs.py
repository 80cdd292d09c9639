# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Every pair of priorities at 10 Mbit/s: what the upper one keeps. --only rate=100,1000 or preset=nicer for more."""

from netnice_lab.experiment import Experiment, Figure
from netnice_lab.levels import pair

PAIRS = ("0-1", "0-2", "0-3", "1-2", "1-3", "2-3")

experiment = Experiment(
    title="One flow of each priority with 19 of each lower one, beside itself alone",
    claim="Ours: 95 % for every pair and rate (TCP Nicer: about 90 % for level 0 over 1, under 50 % for 1 over 2).",
    sweep={"preset": ("netnice",), "rate": (10.0,), "priorities": PAIRS, "flows": (0, 19)},
    scenario=lambda preset, rate, priorities, flows, seed: pair(
        preset, int(priorities[0]), int(priorities[2]), flows, seed, rate=rate
    ),
    figures=[Figure("rate", "upper", "priorities", "link, Mbit/s", "upper flow, Mbit/s", True, True, panel="preset")],
    seeds=1,
    pinned={"upper": 0.10},
)
