# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figures 3 and 4: every low-priority flavour against every best-effort one."""

from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.lowprio import BEST_EFFORT, LOW, pair

experiment = Experiment(
    title="Best effort against low priority, one flow each, Wi-Fi-like link, 20 random starts",
    claim="Nice has the lowest priority, followed by Vegas; it was never found to be more aggressive than Cubic or "
    "NewReno. TCP-LP is possibly as aggressive as NewReno and more aggressive than Cubic.",
    differs="One flow lasts 20 s from its own random start on. The kernel's TCP-LP is `lp`, ours `nnlp`.",
    sweep={"best": BEST_EFFORT, "low": LOW, "link": ("wifi",)},
    scenario=lambda best, low, link, seed: pair(best, low, link, seed),
    figures=[
        Figure("low", "first_share", "best", "low-priority flavour", "best effort's part of both goodputs"),
        Figure("low", "wins", "best", "low-priority flavour", "part of the runs that best effort wins"),
    ],
    seeds=20,
    pinned={"first_share": 0.05, "wins": 0.10},
    bars=[
        Bar(f"Nice is below {name} in every repetition", "wins", {"best": name, "low": "nice"}, minimum=1.0)
        for name in BEST_EFFORT
    ],
)  # fmt: skip
