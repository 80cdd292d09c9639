# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 7: RED queues."""

from experiments.tcp_nice.world.paper import PAPER_DIFFERS, RED_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure

PROTOCOLS = ("priority", "reno", "vegas-1-3", "vegas-0-0", "nice-0.1", "nice-0.03", "netnice")

experiment = Experiment(
    title="TCP Nice, figure 7: latency against the number of background flows with RED and ECN, S = 1",
    claim="Under RED, Nice closely approximates router prioritization regardless of the number of flows when the spare "
    "capacity is one.",
    differs=PAPER_DIFFERS + RED_DIFFERS,
    sweep={"protocol": PROTOCOLS, "flows": (1, 4, 16, 64, 100)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed, red=True),
    figures=[Figure("flows", "latency", "protocol", "background flows", "document latency, ms", True, True)],
    section4=True,
    quick={"protocol": ("nice-0.1", "nice-0.03"), "flows": (16,)},
    bars=[
        Bar(f"{worse} hurts more than Nice, flows = {flows}", "latency", {"protocol": worse, "flows": flows},
            {"protocol": "nice-0.03", "flows": flows}, minimum=1.1)
        for worse in ("reno", "vegas-1-3", "vegas-0-0") for flows in (16, 64, 100)
    ],
)  # fmt: skip
