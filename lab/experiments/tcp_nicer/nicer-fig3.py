# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 3: the foreground and flows of level 2."""

from experiments.tcp_nicer.world.levels import figure

experiment = figure(
    3, 0, 3,
    "In steady state the background flows have almost no effect on the foreground flow.",
    flows=(19,),
)  # fmt: skip
