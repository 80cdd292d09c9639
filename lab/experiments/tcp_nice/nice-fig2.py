# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 2: document latency against spare capacity."""

from experiments.tcp_nice.world.paper import BASELINES, PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure

experiment = Experiment(
    title="TCP Nice, figure 2: latency against spare capacity, 16 background flows",
    claim="Nice is hardly distinguishable from router prioritization whereas the other protocols cause a significant "
    "increase in foreground latency, in some cases by over an order of magnitude.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": BASELINES, "spare": (0.25, 0.5, 1.0, 2.0, 4.0)},
    scenario=lambda protocol, spare, seed: paper(protocol, spare=spare, seed=seed),
    figures=[
        Figure("spare", "latency", "protocol", "spare capacity S", "document latency, ms", True, True),
        Figure("spare", "background", "protocol", "spare capacity S", "background, Mbit/s", True, True),
    ],
    more_seeds=[({"protocol": "nice-0.1", "spare": spare}, 8) for spare in (0.25, 0.5)],  # it has so little there
    section4=True,
    bars=[
        Bar(f"{worse} hurts more than Nice at S = {spare}", "latency", {"protocol": worse, "spare": spare},
            {"protocol": "nice-0.1", "spare": spare}, minimum=1.05)
        for worse in ("reno", "vegas-1-3", "vegas-0-0", "cubic", "lp") for spare in (0.5, 1.0, 2.0)
    ],
)  # fmt: skip
