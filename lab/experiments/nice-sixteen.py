# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The headline of figures 3 and 4: 16 flows, S = 1, with enough seeds for a confidence interval."""

from netnice_lab.conditions import PAPER_DIFFERS, paper
from netnice_lab.experiment import Bar, Experiment, Figure

REASON = "a document's first window arrives in less than the round trip that any end-to-end signal takes"
PROTOCOLS = ("none", "priority", "nice-0.1", "nice-0.2", "nice-paper")

experiment = Experiment(
    title="16 background flows, S = 1: Nice against router priority over 10 seeds",
    claim="Nice's document latency is less than 1.10 times that of router priority, and it takes more than .70 of the "
    "background throughput that router priority takes (read off figures 3 and 4).",
    differs=PAPER_DIFFERS,
    sweep={"protocol": PROTOCOLS, "flows": (16,)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed),
    figures=[Figure("flows", "latency", "protocol", "background flows", "document latency, ms")],
    seeds=10,
    section4=True,
    pinned={"latency": 0.05, "latency_geometric": 0.05, "background": 0.05},
    bars=[
        Bar(f"{name}: latency over priority", "latency", {"protocol": name}, {"protocol": "priority"}, maximum=1.10,
            holds=False, reason=REASON)
        for name in ("nice-0.1", "nice-0.2", "nice-paper")
    ] + [
        Bar(f"{name}: background over priority's", "background", {"protocol": name}, {"protocol": "priority"},
            minimum=0.70, holds=False, reason=REASON)
        for name in ("nice-0.1", "nice-0.2", "nice-paper")
    ],
)  # fmt: skip
