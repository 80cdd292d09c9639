# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The frontier by the number of background flows."""

from functools import partial

from experiments.frontier.world.front import ALONE, DIFFERS, MORE, PROTOCOLS, bars, figure, front, tables
from experiments.frontier.world.paths import TODAY_DIFFERS, today
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment

MISSES = misses.read({MORE: "added: x16 x100", ALONE: "used: x1"})

experiment = Experiment(
    title="Latency added against spare used: 20 Mbit/s, 40 ms, a buffer of a BDP, documents on half the link",
    claim="Not in the papers, which show one point of each.",
    differs=f"{TODAY_DIFFERS} {DIFFERS}",
    sweep={"protocol": PROTOCOLS, "flows": (1, 4, 16, 100)},
    scenario=lambda protocol, flows, seed: today(protocol, flows=flows, seed=seed),
    figures=[figure("flows")],
    tables=tables("flows", "flows"),
    derive=partial(front, key=("flows",), limit=True),
    bars=[bar for flows in (1, 4, 16, 100) for bar in bars(MISSES, f"x{flows}", {"flows": flows})],
)
