# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 3: the number of background flows. Figures 3 and 4 are the same runs."""

from experiments.tcp_nice.world.paper import BASELINES, PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure

experiment = Experiment(
    title="TCP Nice, figure 3: latency against the number of background flows, S = 1",
    claim="Even with 100 background Nice flows, the latency of foreground documents is hardly distinguishable from the "
    "ideal case when routers provide strict prioritization. Reno and Vegas background flows can cause foreground "
    "latencies to increase by orders of magnitude.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": BASELINES, "flows": (1, 4, 16, 64, 100)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed),
    figures=[Figure("flows", "latency", "protocol", "background flows", "document latency, ms", True, True)],
    section4=True,
    quick={"protocol": ("priority", "nice-0.1", "netnice", "reno"), "flows": (1, 16, 64)},
    bars=[
        Bar(f"{worse} hurts more than Nice, {flows} flows", "latency", {"protocol": worse, "flows": flows},
            {"protocol": "nice-0.1", "flows": flows}, minimum=1.3)
        for worse in ("reno", "vegas-1-3", "vegas-0-0", "cubic", "lp") for flows in (16, 64, 100)
    ],
)  # fmt: skip
