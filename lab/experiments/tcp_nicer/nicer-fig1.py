# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 1: the foreground and flows of level 0."""

from experiments.tcp_nicer.world.levels import figure

experiment = figure(
    1, 0, 1,
    "The foreground recovers after a period of instability and again utilizes most of the bandwidth; its latency rises "
    "by about 13 % in that period only.",
    flows=(19,),
    missed={
        "the path holds seven packets: 19 flows that each probe are a part of it, {mean} is left": """
            goodput nicer: x19
            goodput netnice: x19
        """,
    },
)  # fmt: skip
