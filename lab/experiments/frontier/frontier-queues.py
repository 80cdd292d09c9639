# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The frontier by the router's queue discipline."""

from functools import partial

from experiments.frontier.world.front import BY_FLOW, DIFFERS, MORE, PROTOCOLS, bars, figure, front, tables
from experiments.frontier.world.paths import TODAY_DIFFERS, today
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment

MISSES = misses.read({MORE: "added: fifo red codel pie", BY_FLOW: "added: fq_codel cake"})
QUEUES = ("fifo", "red", "codel", "pie", "fq_codel", "cake")

experiment = Experiment(
    title="Latency added against spare used, by queue discipline: 20 Mbit/s, 40 ms, at most 2 BDP, 4 flows",
    claim="Not in the papers but RED. Behind a router that queues by flow, delay does not show other people's traffic.",
    differs=f"{TODAY_DIFFERS} {DIFFERS} The spare is that of a priority queue in front of a drop-tail buffer.",
    sweep={"protocol": PROTOCOLS, "queue": QUEUES},
    scenario=lambda protocol, queue, seed: today(protocol, queue=queue, buffer=2.0, flows=4, seed=seed),
    figures=[figure("queue")],
    tables=tables("queue", "queue"),
    derive=partial(front, key=("queue",)),
    bars=[bar for queue in QUEUES for bar in bars(MISSES, queue, {"queue": queue})],
)
