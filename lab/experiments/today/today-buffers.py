# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Today's conditions: the buffer from a quarter of the BDP to four, and the number of flows."""

from experiments.today.world.paths import TODAY_DIFFERS, today
from netnice_lab.model.experiment import Experiment, Figure

experiment = Experiment(
    title="Today: 20 Mbit/s, 40 ms, CUBIC documents on half the link; buffers of ¼ to 4 BDP",
    claim="Not in the paper. Theorem 1 expects interference to grow as the buffer shrinks.",
    differs=TODAY_DIFFERS,
    sweep={
        "protocol": ("none", "priority", "cubic", "bbr", "vegas-1-3", "lp", "nice-0.1", "nice-0.2", "netnice"),
        "buffer": (0.25, 0.5, 1.0, 4.0),
        "flows": (1, 16),
    },
    scenario=lambda protocol, buffer, flows, seed: today(protocol, buffer=buffer, flows=flows, seed=seed),
    figures=[
        Figure("buffer", "latency", "protocol", "buffer, BDP", "document latency, ms", True, True, "flows"),
        Figure("buffer", "background", "protocol", "buffer, BDP", "background, Mbit/s", True, False, "flows"),
    ],
    seeds=1,
)
