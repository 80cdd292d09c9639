# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nicer, figure 4: level 0 and flows of level 1."""

from experiments.tcp_nicer.world.levels import SLOW_WIRE, figure

experiment = figure(
    4, 1, 2,
    "The medium priority flows cause roughly a 10 % decrease in throughput and a negligible increase in latency.",
    flows=(19,),
    missed={
        "Table I's own parameters; the paper too loses about 10 % here": """
            goodput nicer: x19
            latency nicer: x19
        """,
        SLOW_WIRE: "goodput netnice: x19",
    },
)  # fmt: skip
