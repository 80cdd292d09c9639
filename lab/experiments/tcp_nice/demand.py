# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How much the paper's unstated mean demand matters: the same experiment on larger links."""

from experiments.tcp_nice.world.paper import PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Experiment, Figure
from netnice_lab.model.protocols import protocol as named

FLOOR = named("nice-0.1").with_parameters(min_window=4096)

experiment = Experiment(
    title="Mean demand of the foreground from 0.4 to 6.4 Mbit/s, S = 1",
    claim="The paper states the ratio of capacity to mean demand, not the demand. It says that a window floor of 1 "
    "doubles the latency at 64 flows.",
    differs=PAPER_DIFFERS + " More demand is more documents of the same sizes by the same twelve clients.",
    sweep={
        "protocol": ("priority", "nice-0.1", "nice-0.2", "netnice", "nice-floor-1"),
        "demand": (400_000, 800_000, 1_600_000, 2_000_000, 3_200_000, 6_400_000),
        "flows": (16, 64),
    },
    scenario=lambda protocol, demand, flows, seed: paper(
        FLOOR if protocol == "nice-floor-1" else protocol, demand=demand, flows=flows, seed=seed
    ),
    seeds=1,
    figures=[
        Figure("demand", "latency", "protocol", "demand, bit/s", "document latency, ms", True, True, "flows"),
        Figure("demand", "background", "protocol", "demand, bit/s", "background, Mbit/s", True, True, "flows"),
    ],
)
