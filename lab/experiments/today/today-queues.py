# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Today's conditions: routers with fq_codel, CAKE, CoDel and PIE."""

from experiments.today.world.paths import TODAY_DIFFERS, today
from netnice_lab.model.experiment import Experiment, Figure

experiment = Experiment(
    title="Today: the router's queue discipline; 20 Mbit/s, 40 ms, 16 background flows",
    claim="Not in the paper. Behind a flow-queueing router delay does not show other people's traffic.",
    differs=TODAY_DIFFERS,
    sweep={
        "protocol": ("none", "cubic", "bbr", "vegas-1-3", "lp", "nice-0.1", "nice-0.2", "netnice"),
        "queue": ("fifo", "codel", "pie", "fq_codel", "cake"),
    },
    scenario=lambda protocol, queue, seed: today(protocol, queue=queue, buffer=2.0, seed=seed),
    figures=[Figure("queue", "latency", "protocol", "queue", "document latency, ms", False, True)],
    seeds=1,
)
