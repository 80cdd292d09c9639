# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The lab against ns-3, an independent TCP: a few cells of TCP Nice's figures 3 and 4, the same cores in both.

Latencies are compared as multiples of the latency without a background. So a difference of the two stacks for a
document alone does not count twice. That latency itself is compared too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd
from rich.console import Console

from netnice_lab.comparison import ns3
from netnice_lab.engine import sweep
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Cell

FIGURE = "nice-fig3"
PROTOCOLS = ("priority", "nice-0.1", "reno")
FLOWS = (1, 4, 16)
ALONE = 0.10
"""Relative difference of the two stacks' latencies without a background that still agrees."""
SAME, LOSSY = 0.05, 0.25
"""The same for latencies as multiples of that; beside Reno documents live on loss recovery, which differs most."""
GOODPUT, LONE = 0.15, 0.30
"""The same for the background's goodput; a lone flow's hangs on a few cuts."""
TIE = 0.05
"""Values of the lab closer than this need not keep their order."""
DIFFERS = """What differs, and why:
  beside Reno       ns-3 has neither RACK nor tail loss probes; with both off in the lab's Linux (sysctl tcp_recovery=0,
                    tcp_early_retrans=0), 16 flows come to within 2 % of ns-3
  lone background   ns-3's Reno resends several times as much after an overshoot, and so leaves more of the link idle;
                    a lone Nice flow's share hangs on a few cuts, which fall at other moments
  in both           documents, their times and the background's starts are one plan; requests, FINs and the two packets
                    in the device are not exactly where Linux has them"""


@dataclass(frozen=True)
class Verdict:
    """One comparison."""

    where: str
    lab: float
    ns3: float
    bound: float

    @property
    def difference(self) -> float:
        """Of ns-3 from the lab, relative."""
        return self.ns3 / self.lab - 1

    @property
    def good(self) -> bool:
        """Whether it lies within the bound."""
        return abs(self.difference) <= self.bound


Means = dict[tuple[str, int], dict[str, float]]
"""(protocol, flows) to metric to its mean over the seeds; 'none' has one cell."""


def cells() -> Iterator[Cell]:
    """No background once, then every protocol with every number of flows."""
    yield {"protocol": "none", "flows": 1}
    for protocol in PROTOCOLS:
        for flows in FLOWS:
            yield {"protocol": protocol, "flows": flows}


def means(frame: pd.DataFrame) -> Means:
    """From a row a run to a value a cell."""
    grouped = frame.groupby(["protocol", "flows"], sort=False)[["latency", "background"]].mean()
    table: Means = {}
    for (protocol, flows), row in grouped.iterrows():
        table[str(protocol), int(flows)] = {
            "latency": float(row.latency),
            "background": float(row.background),
        }
    alone = table["none", 1]["latency"]
    for values in table.values():
        values["ratio"] = values["latency"] / alone
    return table


def compare(lab: Means, other: Means) -> list[Verdict]:
    """Every number of the lab with ns-3's."""
    alone = ("none", 1)
    found = [Verdict("no background: latency, ms", lab[alone]["latency"], other[alone]["latency"], ALONE)]
    for cell in lab:
        if cell == alone:
            continue
        where = f"{cell[0]}, {cell[1]} flow{'s' * (cell[1] > 1)}"
        bound = LOSSY if cell[0] == "reno" else SAME
        found.append(Verdict(f"{where}: latency / none", lab[cell]["ratio"], other[cell]["ratio"], bound))
        bound = LONE if cell[1] == 1 else GOODPUT
        found.append(Verdict(f"{where}: Mbit/s", lab[cell]["background"], other[cell]["background"], bound))
    return found


def disorder(lab: Means, other: Means) -> list[str]:
    """The pairs of protocols that the lab tells apart and ns-3 orders otherwise."""
    wrong = []
    for metric in ("ratio", "background"):
        for one, two in combinations([cell for cell in lab if cell[0] != "none"], 2):
            here, there = lab[one][metric] / lab[two][metric], other[one][metric] / other[two][metric]
            if one[1] == two[1] and abs(here - 1) > TIE and (here > 1) != (there > 1):
                wrong.append(
                    f"{one[0]} and {two[0]}, {one[1]} flows: {metric} {here:.2f} in the lab, {there:.2f} in ns-3"
                )
    return wrong


def report(lab: Means, other: Means) -> int:
    """Print the table; 1 if something disagrees."""
    verdicts, wrong = compare(lab, other), disorder(lab, other)
    print(f"{'':6} {'':34} {'lab':>8} {'ns-3':>8} {'differs':>8}  bound")
    for v in verdicts:
        word = "ok" if v.good else "FAILED"
        print(f"{word:6} {v.where:34} {v.lab:8.3f} {v.ns3:8.3f} {v.difference:+8.1%}  ±{v.bound:.0%}")
    for line in wrong:
        print(f"FAILED order: {line}")
    if not wrong:
        print(f"ok     order: every pair of protocols that differs by more than {TIE:.0%} in the lab, in ns-3 too")
    print(DIFFERS)
    failed = sum(not v.good for v in verdicts) + bool(wrong)
    print(f"{len(verdicts) + 1 - failed} agree, {failed} disagree")
    return 1 if failed else 0


def main(seeds: int, jobs: int, limit: float, console: Console) -> int:
    """Run the cells in both worlds."""
    ns3.build()
    found = catalogue.load(FIGURE)
    plans = [(cell, seed, found.at(cell, seed)) for cell in cells() for seed in range(1, seeds + 1)]
    guests = [sweep.Task(FIGURE, cell, seed, scenario.render()) for cell, seed, scenario in plans]
    others = [
        replace(task, experiment="ns-3", run=ns3.render(plan[2])) for task, plan in zip(guests, plans, strict=True)
    ]
    here, _ = sweep.run(guests, sweep.Local(jobs), limit, console)
    there, _ = sweep.run(others, sweep.Local(jobs, ns3.work), limit, console, lambda task: ns3.key(task.run))
    return report(means(here), means(there))
