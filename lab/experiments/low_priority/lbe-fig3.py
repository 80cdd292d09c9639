# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figure 3: every flavour against every other. Figures 3 and 4 are the same runs."""

from experiments.low_priority.world.rivals import PAIRS, points, scenario
from netnice_lab.model.experiment import Bar, Experiment, Figure

experiment = Experiment(
    title="Low-priority TCP in Linux, figure 3: one flow each, Wi-Fi-like link, 20 random starts",
    claim="While Nice and Vegas are lower priority than Cubic and Reno, they are fair among each other. LP is more "
    "aggressive than Nice and Vegas, possibly as aggressive as NewReno and even more aggressive than Cubic.",
    differs="Both flows start within five seconds and are measured over the twenty after them. The kernel's TCP-LP is "
    "`lp`, ours `nnlp`. Parts of what the varying link could carry in the same seconds.",
    sweep={"pair": PAIRS},
    scenario=scenario,
    figures=[Figure("second", "first_part", "first", "column's part of the link", "row's part", kind="matrix")],
    derive=points,
    seeds=20,
    quick={"pair": ("cubic:netnice", "bbr:netnice")},
    pinned={"first_share": 0.05, "wins": 0.10},
    bars=[
        Bar("Nice and Vegas are fair", "first_share", {"pair": "vegas-1-3:netnice"}, minimum=0.4, maximum=0.6),
        Bar("all-Vegas is slightly more efficient than all-Nice", "total", {"pair": "vegas-1-3:vegas-1-3"},
            {"pair": "netnice:netnice"}, minimum=1.0),
    ],
)  # fmt: skip
