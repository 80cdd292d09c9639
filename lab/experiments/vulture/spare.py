# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What Vulture's report says in words of figure 9: its time to find bandwidth, and that it needs no base delay."""

from experiments.vulture.report import FAITHFUL, RUNS, printed, report_figure
from experiments.vulture.scenarios import on_off, rerouted
from experiments.vulture.testbed import LONGEST
from netnice_lab.judgement.misses import EDGE
from netnice_lab.model.experiment import Experiment, Figure
from netnice_lab.model.scenario import Scenario

EXPERIMENTS: dict[str, Experiment] = {}

ALL = 10.0
"""Mbit/s: what stops is not limited."""
FREED = (2.5, 5.0, 7.5, ALL)
PROPORTION = 0.2
"""How far from it a ratio of times may be."""
LONG = "{mean} ± {half}: 5 Mbit/s are found in a few doublings, up to what it remembers; 10 are more than that"


def sets_free(receiver: str, freed: float, seed: int) -> Scenario:
    """Figure 9, beside a foreground of so many Mbit/s."""
    return on_off(receiver, LONGEST, seed=seed, rate=0 if freed == ALL else int(freed * 1e6))


EXPERIMENTS["vulture-spare"] = report_figure(
    title="Vulture, figure 9 with 2.5 to 10 Mbit/s set free",
    claim="The time it takes an LBE flow to discover spare bandwidth is in proportion to the amount of it.",
    differs="Found is 80 % of what is set free, for half a second, besides what the flow had before.",
    sweep={"receiver": ("tide", FAITHFUL), "freed": FREED},
    scenario=sets_free,
    figures=[Figure("freed", "found", "receiver", "Mbit/s set free", "seconds until 80 % of them are used")],
    pinned=("found",),
    more_seeds=[({"receiver": "tide"}, 5)],
    bars=[
        printed(f"{more:g} Mbit/s take {more / less:g} times as long as {less:g}", "found", {"freed": more},
                (1 - PROPORTION) * more / less, (1 + PROPORTION) * more / less, over={"freed": less},
                reason=LONG if more == ALL else EDGE)
        for less, more in ((2.5, 5.0), (5.0, ALL))
    ],
)  # fmt: skip

LONGER = (6_000, 20_000, 50_000, 100_000)
EXPERIMENTS["vulture-base"] = report_figure(
    title="Vulture on a path that becomes longer by 6 to 100 ms",
    claim="It looks at neither one-way nor round-trip delay, and so needs no estimate of a minimum delay.",
    differs="Not measured in the report. What it has is held against what it has without the change.",
    sweep={"receiver": (FAITHFUL, "vulture"), "longer": (0, *LONGER)},
    scenario=rerouted,
    figures=[Figure("longer", "use", "receiver", "longer, us", "use of the path from 30 s after the change")],
    pinned=("use",),
    seeds=RUNS,
    bars=[
        printed(f"{us // 1000} ms longer: use, of that without", "use", {"longer": us}, 0.95, over={"longer": 0})
        for us in LONGER
    ],
)  # fmt: skip
