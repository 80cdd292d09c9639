# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figure 4: the ranking. Figures 3 and 4 are the same runs."""

from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.rivals import PAIRS, ranking, scenario

experiment = Experiment(
    title="Low-priority TCP in Linux, figure 4: in which part of its runs a flavour has more than the other",
    claim="Nice achieves a higher throughput than others only about 15 % of the times, against Vegas and TCP-LP; it "
    "was never found to be more aggressive than Cubic or NewReno. TCP-LP is actually more aggressive than Vegas.",
    differs="The runs of lbe-fig3. Eleven flavours share the ranking, five did in the report.",
    sweep={"pair": PAIRS},
    scenario=scenario,
    figures=[Figure("first", "part", "second", "", "part of its runs that it wins", kind="stack")],
    derive=ranking,
    seeds=20,
    pinned={"wins": 0.10},
    bars=[],
)
