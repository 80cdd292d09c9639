# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 6: level 1 and flows of level 2."""

from netnice_lab.levels import figure

experiment = figure(
    6, 2, 3,
    "Even a single low priority flow makes the medium flow's throughput spike downward; with ten flows it averages "
    "slightly under 50 %, with more it is worse; latency +40 %.",
    flows=(1, 9, 19),
    kept={
        "nicer": "Table I's own parameters; the paper too loses something here",
        "netnice": "the pairs of many flows that arrive at once are a second's worth of this link: "
        "level 1 falls below one segment and is slow to return",
    },
)  # fmt: skip
