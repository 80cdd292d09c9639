# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The frontier by the size of the drop-tail buffer."""

from experiments.frontier.world.front import ALONE, DIFFERS, MORE, PROTOCOLS, bars, figure, front, tables
from experiments.frontier.world.paths import TODAY_DIFFERS, today
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment

MISSES = misses.read({MORE: "added: x16/0.25 x16/1 x16/4", ALONE: "used: x1/0.25 x1/0.5 x1/1"})
BUFFERS = (0.25, 0.5, 1.0, 4.0)

experiment = Experiment(
    title="Latency added against spare used, by the buffer in BDP: 20 Mbit/s, 40 ms, 16 flows",
    claim="Not in the papers. Theorem 1 of TCP Nice expects interference to grow as the buffer shrinks.",
    differs=f"{TODAY_DIFFERS} {DIFFERS}",
    sweep={"protocol": PROTOCOLS, "buffer": BUFFERS, "flows": (1, 16)},
    scenario=lambda protocol, buffer, flows, seed: today(protocol, buffer=buffer, flows=flows, seed=seed),
    figures=[figure("condition")],
    tables=[*tables("one", "buffer", flows=1), *tables("sixteen", "buffer", flows=16)],
    derive=lambda frame: front(frame, ("buffer", "flows")).assign(
        condition=lambda rows: rows.buffer.astype(str) + " BDP, " + rows.flows.astype(str)
    ),
    bars=[
        bar
        for buffer in BUFFERS
        for flows in (1, 16)
        for bar in bars(MISSES, f"x{flows}/{buffer:g}", {"buffer": buffer, "flows": flows})
    ],
)
