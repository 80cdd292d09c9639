# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 2: the foreground and flows of level 1."""

from experiments.tcp_nicer.world.levels import figure

experiment = figure(
    2, 0, 2,
    "The foreground reaches near-optimal utilization in steady state.",
    flows=(19,),
    missed={
        "Table I's own parameters: 94.9 % to 95.7 %": "goodput nicer: x19",
    },
)  # fmt: skip
