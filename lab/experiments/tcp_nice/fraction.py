# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, experiment 3, graph omitted in the paper: the trigger fraction."""

from experiments.tcp_nice.world.paper import PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.protocols import protocol as named

experiment = Experiment(
    title="The trigger fraction from 0.1 to 0.9: latency, 16 flows, S = 1",
    claim="We find little change in foreground latency as we vary this fraction from 0.1 to 0.9.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": ("nice-0.1",), "fraction": (10, 30, 50, 70, 90)},
    scenario=lambda protocol, fraction, seed: paper(named(protocol).with_parameters(fraction=fraction), seed=seed),
    figures=[Figure("fraction", "latency", "protocol", "fraction, percent", "document latency, ms")],
    section4=True,
    quick={"fraction": (30,)},
    bars=[
        Bar("0.9 against 0.1", "latency", {"fraction": 90}, {"fraction": 10}, maximum=1.25),
    ],
)  # fmt: skip
