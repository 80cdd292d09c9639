# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figure 4: the ranking. Figures 3 and 4 are the same runs."""

from experiments.low_priority.world.rivals import PAIRS, ranking, scenario
from netnice_lab.model.experiment import Bar, Experiment, Figure

experiment = Experiment(
    title="Low-priority TCP in Linux, figure 4: in which part of its runs a flavour has more than the other",
    claim="Nice achieves a higher throughput than others only about 15 % of the times, against Vegas and TCP-LP; it "
    "was never found to be more aggressive than Cubic or NewReno. TCP-LP is actually more aggressive than Vegas.",
    differs="The runs of lbe-fig3. Eleven flavours share the ranking, five did in the report: among those Nice wins "
    "none of its runs here, Vegas 25 %, TCP-LP 66 %, NewReno 71 %, CUBIC 88 %.",
    sweep={"pair": PAIRS},
    scenario=scenario,
    figures=[Figure("first", "part", "second", "", "part of its runs that it wins", kind="stack")],
    derive=ranking,
    seeds=20,
    quick={"pair": ("cubic:netnice", "vegas-1-3:netnice")},
    pinned={"wins": 0.10},
    bars=[
        Bar(f"{low} is below {best}", "wins", {"pair": f"{best}:{low}"}, minimum=1.0)
        for best in ("cubic", "reno") for low in ("vegas-1-3", "nnledbat", "nnledbatpp", "nnlp")
    ] + [
        Bar(f"the kernel's TCP-LP is above {low}", "wins", {"pair": f"{low}:lp"}, maximum=0.0)
        for low in ("vegas-1-3", "netnice")
    ] + [
        Bar("the kernel's TCP-LP is above CUBIC more often than not", "wins", {"pair": "cubic:lp"}, maximum=0.5,
            holds=False, reason="Linux 6.12's CUBIC has more in 16 of 20 runs, and 53 % of the goodput; Reno in 11"),
    ],
)  # fmt: skip
