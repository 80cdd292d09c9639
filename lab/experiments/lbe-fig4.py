# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figures 3 and 4: the low-priority flavours among themselves."""

from netnice_lab import lowprio
from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.lowprio import LOW
from netnice_lab.scenario import Scenario

PAIRS = tuple(f"{a}:{b}" for i, a in enumerate(LOW) for b in LOW[i + 1 :])


def between(pair: str, link: str, seed: int) -> Scenario:
    """A pair is written first:second."""
    first, second = pair.split(":")
    return lowprio.pair(first, second, link, seed)


experiment = Experiment(
    title="Low-priority flavours among themselves, one flow each, Wi-Fi-like link, 20 random starts",
    claim="Nice achieves a higher throughput than others only about 15 % of the times, against Vegas and TCP-LP; Nice "
    "and Vegas are fair to each other. TCP-LP is more aggressive than Vegas and Nice.",
    differs="A pair is first:second; with lbe-fig3 it makes the ranking.",
    sweep={"pair": PAIRS, "link": ("wifi",)},
    scenario=between,
    figures=[
        Figure("pair", "first_share", "link", "first:second", "the first's part of both goodputs"),
        Figure("pair", "wins", "link", "first:second", "part of the runs that the first wins"),
    ],
    seeds=20,
    pinned={"first_share": 0.05, "wins": 0.10},
    bars=[
        Bar("the kernel's TCP-LP beats Nice", "first_share", {"pair": "nice:lp"}, maximum=0.25),
    ],
)  # fmt: skip
