# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 6: level 1 and flows of level 2."""

from experiments.tcp_nicer.world.levels import figure

experiment = figure(
    6, 2, 3,
    "Even a single low priority flow makes the medium flow's throughput spike downward; with ten flows it averages "
    "slightly under 50 %, with more it is worse; latency +40 %.",
    flows=(1, 9, 19),
    missed={
        "Table I's own parameters: the paper's has under 50 % beside ten": """
            goodput nicer: x1 x9 x19
            latency nicer: x19
        """,
        "Table I's level 1 has 0.6 of the link even alone": "sum nicer: x1 x9 x19",
        "the pairs of many flows that arrive at once are a second's worth of this link: level 1 falls below one "
        "segment and is slow to return": """
            goodput netnice: x9 x19
            latency netnice: x19
            sum netnice: x9 x19
        """,
    },
)  # fmt: skip
