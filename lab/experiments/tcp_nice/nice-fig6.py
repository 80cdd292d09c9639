# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 6: RED queues."""

from experiments.tcp_nice.world.paper import PAPER_DIFFERS, RED_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure

PROTOCOLS = ("priority", "reno", "vegas-1-3", "vegas-0-0", "nice-0.1", "nice-0.03", "netnice")

experiment = Experiment(
    title="TCP Nice, figure 6: latency against spare capacity with RED and ECN, 16 flows",
    claim="Though Nice still performs as much as an order of magnitude better than other protocols, it causes up to a "
    "factor of 2 increase in document latencies for large spare capacities. Nice-0.03 causes less.",
    differs=PAPER_DIFFERS + RED_DIFFERS,
    sweep={"protocol": PROTOCOLS, "spare": (0.25, 0.5, 1.0, 2.0, 4.0)},
    scenario=lambda protocol, spare, seed: paper(protocol, spare=spare, seed=seed, red=True),
    figures=[Figure("spare", "latency", "protocol", "spare capacity S", "document latency, ms", True, True)],
    section4=True,
    bars=[
        Bar(f"{worse} hurts more than Nice, spare = {spare}", "latency", {"protocol": worse, "spare": spare},
            {"protocol": "nice-0.03", "spare": spare}, minimum=1.1)
        for worse in ("reno", "vegas-1-3", "vegas-0-0") for spare in (1.0, 2.0)
    ],
)  # fmt: skip
