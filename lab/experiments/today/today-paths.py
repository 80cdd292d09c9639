# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Today's conditions: rates and round trips, persistent connections."""

from experiments.today.world.paths import TODAY_DIFFERS, today
from netnice_lab.model.experiment import Experiment, Figure

experiment = Experiment(
    title="Today: 10 to 100 Mbit/s, 20 and 100 ms, buffer of one BDP, 16 background flows",
    claim="Not in the paper.",
    differs=TODAY_DIFFERS,
    sweep={
        "protocol": ("none", "priority", "cubic", "vegas-1-3", "nice-0.1", "nice-0.2", "netnice"),
        "rate": (10.0, 100.0),
        "rtt": (20.0, 100.0),
        "persistent": (False, True),
    },
    scenario=lambda protocol, rate, rtt, persistent, seed: today(
        protocol, rate=rate, rtt=rtt, persistent=persistent, seed=seed, duration=30.0
    ),
    figures=[Figure("rate", "latency", "protocol", "Mbit/s", "document latency, ms", True, True, "rtt")],
    seeds=1,
)
