# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 5: document latency against the threshold."""

from experiments.tcp_nice.world.paper import PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.protocols import protocol as named

THRESHOLDS = (1, 3, 5, 10, 20, 30, 50, 70, 90, 100)

experiment = Experiment(
    title="TCP Nice, figure 5: latency against the threshold, 16 flows, S = 1",
    claim="As the threshold increases the interference caused by Nice increases until the protocol finally reverts to "
    "Vegas behaviour as the threshold approaches 1. There is a large range of threshold values yielding low "
    "interference.",
    differs=PAPER_DIFFERS + " Priority, Vegas and netnice are drawn as level lines: their threshold is not varied.",
    sweep={"protocol": ("priority", "vegas-1-3", "netnice", "nice"), "threshold": THRESHOLDS},
    scenario=lambda protocol, threshold, seed: paper(
        named(protocol).with_threshold(threshold) if protocol == "nice" else protocol, seed=seed
    ),
    figures=[
        Figure("threshold", "latency", "protocol", "threshold, percent", "document latency, ms", False, True),
        Figure("threshold", "background", "protocol", "threshold, percent", "background, Mbit/s"),
    ],
    section4=True,
    more_seeds=[({"protocol": "nice", "threshold": t}, 12) for t in (10, 90)],  # two say it within .09
    quick={"protocol": ("nice",), "threshold": (10, 50)},
    bars=[
        Bar("a high threshold interferes more than a low one", "latency", {"protocol": "nice", "threshold": 90},
            {"protocol": "nice", "threshold": 10}, minimum=1.2),
        Bar("a wide range of thresholds is low", "latency", {"protocol": "nice", "threshold": 20},
            {"protocol": "nice", "threshold": 5}, maximum=1.2),
    ],
)  # fmt: skip
