# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, 'other results': Reno limited to a rate, against Nice which needs no rate."""

from experiments.tcp_nice.world.paper import PAPER_DIFFERS, paper
from netnice_lab.model.experiment import Bar, Experiment, Figure

RATES = tuple(f"reno-at-{percent}" for percent in (25, 50, 75, 100, 125))

experiment = Experiment(
    title="Rate-limited Reno against Nice: latency and throughput, 16 flows, S = 1",
    claim="When the rate is tuned to approximate the spare capacity of the network, rate limiting performs well. Nice, "
    "however, outperforms rate limiting and does not require hand tuning.",
    differs=PAPER_DIFFERS + " The limit is TCP's own pacing at a part of the mean spare capacity, shared by the flows.",
    sweep={"protocol": ("priority", "nice-0.1", "nice-0.2", *RATES), "spare": (0.5, 1.0, 2.0)},
    scenario=lambda protocol, spare, seed: paper(protocol, spare=spare, seed=seed),
    figures=[
        Figure("background", "latency", "protocol", "background, Mbit/s", "document latency, ms", panel="spare"),
    ],
    more_seeds=[({"protocol": name, "spare": 0.5}, 8) for name in ("nice-0.1", "reno-at-25")],  # two runs say nothing
    section4=True,
    bars=[
        Bar(f"a quarter of the spare: hardly less latency than Nice, S = {spare}", "latency",
            {"protocol": "reno-at-25", "spare": spare}, {"protocol": "nice-0.1", "spare": spare}, minimum=0.95)
        for spare in (0.5, 1.0, 2.0)
    ] + [
        Bar(f"a quarter of the spare: less throughput than Nice, S = {spare}", "background",
            {"protocol": "reno-at-25", "spare": spare}, {"protocol": "nice-0.1", "spare": spare}, maximum=1.0)
        for spare in (0.5, 1.0, 2.0)
    ],
)  # fmt: skip
