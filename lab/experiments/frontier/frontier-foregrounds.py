# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The frontier by who is in front."""

from functools import partial

from experiments.frontier.world.front import DIFFERS, PROTOCOLS, bars, figure, front, table
from experiments.frontier.world.paths import TODAY_DIFFERS, today
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment

MISSES = misses.read({})
FOREGROUNDS = ("cubic", "reno", "bbr", "cubic, persistent")

experiment = Experiment(
    title="Latency added against spare used, by the documents' congestion control: 20 Mbit/s, 40 ms, 1 BDP, 4 flows",
    claim="Not in the papers: their documents are Reno's.",
    differs=f"{TODAY_DIFFERS} {DIFFERS}",
    sweep={"protocol": PROTOCOLS, "foreground": FOREGROUNDS},
    scenario=lambda protocol, foreground, seed: today(
        protocol, foreground=foreground.split(",")[0], persistent="," in foreground, flows=4, seed=seed
    ),
    figures=[figure("foreground")],
    tables=[table("foreground", "foreground")],
    derive=partial(front, key=("foreground",)),
    bars=[
        bar
        for foreground in FOREGROUNDS
        for bar in bars(MISSES, foreground.replace(", ", "-"), {"foreground": foreground})
    ],
)
