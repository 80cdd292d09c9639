# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Every pair of priorities at today's rates: what the upper one keeps."""

from netnice_lab.experiment import Experiment, Figure
from netnice_lab.levels import pair

PAIRS = ("0-1", "0-2", "0-3", "1-2", "1-3", "2-3")

experiment = Experiment(
    title="One flow of each priority with 19 of each lower one, beside itself alone",
    claim="Ours: at least 95 % for every pair and rate (TCP Nicer: about 90 % for level 0 over 1, under 50 % for 1 over 2).",
    sweep={"preset": ("nicer", "netnice"), "rate": (10.0, 100.0, 1000.0), "pair_": PAIRS, "flows": (0, 19)},
    scenario=lambda preset, rate, pair_, flows, seed: pair(
        preset, int(pair_[0]), int(pair_[2]), flows, seed, rate=rate
    ),
    figures=[Figure("rate", "upper", "pair_", "link, Mbit/s", "upper flow, Mbit/s", True, True, panel="preset")],
    quick={"rate": (10.0,), "preset": ("netnice",)},
    pinned={"upper": 0.10},
)
