# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, experiment 2, graph omitted in the paper: the window may not fall below one."""

from experiments.tcp_nice.world.paper import PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.protocols import protocol as named

FLOORS = {"1/48": 85, "1": 4096}

experiment = Experiment(
    title="A window floor of 1 instead of 1/48: latency against the number of flows, S = 1",
    claim="When the number of background flows exceeds about 10, the latency of foreground flows begins to increase "
    "noticeably; the increase is about a factor of two when the number of background flows is 64.",
    differs=PAPER_DIFFERS + " The paper's factor of two was used to choose the mean demand: see the experiment demand.",
    sweep={"floor": tuple(FLOORS), "flows": (1, 4, 10, 16, 32, 64, 100)},
    scenario=lambda floor, flows, seed: paper(
        named("nice-0.1").with_parameters(min_window=FLOORS[floor]), flows=flows, seed=seed
    ),
    figures=[Figure("flows", "latency", "floor", "background flows", "document latency, ms", True, True)],
    section4=True,
    quick={"floor": ("1/48",), "flows": (64,)},
    bars=[
        Bar("64 flows, floor of 1", "latency", {"floor": "1", "flows": 64}, {"floor": "1/48", "flows": 64},
            minimum=1.5),
        Bar("4 flows do not mind", "latency", {"floor": "1", "flows": 4}, {"floor": "1/48", "flows": 4}, maximum=1.2),
    ],
)  # fmt: skip
