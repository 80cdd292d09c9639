# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 4: the number of background flows. Figures 3 and 4 are the same runs."""

from experiments.tcp_nice.world.paper import BASELINES, PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure

ONE_FLOW = "a document comes every 40 ms, less than half a round trip: a lone flow yields too often to grow in between"

experiment = Experiment(
    title="TCP Nice, figure 4: background throughput against the number of background flows, S = 1",
    claim="A single background flow reaps about half the spare bandwidth available under router prioritization; this "
    "improves with the number of flows but remains below router prioritization. Reno and Vegas go beyond the "
    "router prioritization line: they steal bandwidth from the foreground.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": BASELINES, "flows": (1, 4, 16, 64, 100)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed),
    figures=[Figure("flows", "background", "protocol", "background flows", "background, Mbit/s", True)],
    section4=True,
    quick={"protocol": ("priority", "nice-0.1", "netnice", "reno"), "flows": (1, 16, 64)},
    bars=[
        Bar("one flow takes about half of what priority takes", "background", {"protocol": "nice-0.1", "flows": 1},
            {"protocol": "priority", "flows": 1}, minimum=0.40, holds=False, reason=ONE_FLOW),
        Bar("one flow at t = 0.2 takes about half of what priority takes", "background",
            {"protocol": "nice-0.2", "flows": 1}, {"protocol": "priority", "flows": 1}, minimum=0.40,
            holds=False, reason=ONE_FLOW),
        Bar("16 flows stay below priority", "background", {"protocol": "nice-0.1", "flows": 16},
            {"protocol": "priority", "flows": 16}, maximum=1.0),
        Bar("100 flows stay below priority", "background", {"protocol": "nice-0.1", "flows": 100},
            {"protocol": "priority", "flows": 100}, maximum=1.0),
    ],
)  # fmt: skip
