# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, 'other results': an ON/OFF Pareto UDP foreground."""

from experiments.tcp_nice.world.paper import BASELINES, PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure

experiment = Experiment(
    title="ON/OFF Pareto UDP foreground: datagram delay and loss, S = 1",
    claim="Nice still causes lower interference than Reno or Vegas, but does not match router prioritization as "
    "closely. The utilization of spare capacity by Nice is also lower compared to the trace workload.",
    differs=PAPER_DIFFERS + " UDP has no documents: interference is the datagrams' delay and loss.",
    sweep={"protocol": ("none", *BASELINES), "flows": (1, 16)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed, udp=True),
    figures=[
        Figure("flows", "udp_delay", "protocol", "background flows", "datagram delay, ms", True),
        Figure("flows", "udp_loss", "protocol", "background flows", "datagrams lost, part of 1", True),
        Figure("flows", "background", "protocol", "background flows", "background, Mbit/s", True),
    ],
    section4=True,
    pinned={"udp_delay": 0.05, "background": 0.10},
    bars=[
        Bar(f"{worse} delays more than Nice, 16 flows", "udp_delay", {"protocol": worse, "flows": 16},
            {"protocol": "nice-0.1", "flows": 16}, minimum=1.0)
        for worse in ("reno", "vegas-1-3", "cubic")
    ],
)  # fmt: skip
