# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 5: level 0 and flows of level 2."""

from experiments.tcp_nicer.world.levels import figure

experiment = figure(
    5, 1, 3,
    "As expected the interference is minimal.",
    flows=(19,),
    missed={
        "Table I's own parameters": "goodput nicer: x19",
    },
)  # fmt: skip
