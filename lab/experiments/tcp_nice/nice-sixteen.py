# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The headline of figures 3 and 4: 16 flows, S = 1, with enough seeds for a confidence interval."""

from experiments.tcp_nice.world.paper import PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure

PRIORITY = {"protocol": "priority"}
LATE = "a higher threshold lets the background keep a fifth of the buffer, or 28 %, and documents wait behind it"
SHY = (
    "a document comes every 40 ms, less than half a round trip: the background is told to halve about as often as it "
    "grows. Were the paper's 50 ms the whole round trip, its t = 0.1 would have .60 (experiment nice-share); a looser "
    "threshold trades latency for it"
)
SIXTEEN = (
    "each of sixteen tolerates half of what one does: with one threshold for all it had .71, and documents took more"
)

experiment = Experiment(
    title="16 background flows, S = 1: Nice against router priority over 10 seeds",
    claim="Nice's document latency is less than 1.10 times that of router priority, and it takes more than .70 of the "
    "background throughput that router priority takes (read off figures 3 and 4).",
    differs=PAPER_DIFFERS,
    sweep={"protocol": ("none", "priority", "nice-0.1", "nice-0.2", "netnice"), "flows": (16,)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed),
    figures=[Figure("flows", "latency", "protocol", "background flows", "document latency, ms")],
    seeds=10,
    section4=True,
    pinned={"latency": 0.05, "latency_geometric": 0.05, "background": 0.05},
    bars=[
        Bar("t = 0.1: latency over priority's", "latency", {"protocol": "nice-0.1"}, PRIORITY, maximum=1.10),
        *(
            Bar(f"{name}: latency over priority's", "latency", {"protocol": name}, PRIORITY, maximum=1.10,
                holds=False, reason=LATE)
            for name in ("nice-0.2", "netnice")
        ),
        Bar("t = 0.1: background over priority's", "background", {"protocol": "nice-0.1"}, PRIORITY, minimum=0.70,
            holds=False, reason=SHY),
        Bar("nice-0.2: background over priority's", "background", {"protocol": "nice-0.2"}, PRIORITY, minimum=0.70),
        Bar("netnice: background over priority's", "background", {"protocol": "netnice"}, PRIORITY, minimum=0.70,
            holds=False, reason=SIXTEEN),
    ],
)  # fmt: skip
