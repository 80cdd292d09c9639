# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What TCP Nicer suggests and did not try: levels within prefetching (section I), a level that changes (section VI)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.frontier import today
from experiments.tcp_nice.hours import LOADS, ON, hourly
from netnice_lab.measures.over_time import goodput
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.output import Sampled
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}

# Two kinds of prefetching beside documents: what is likely to be asked for soon, and what is hardly.
LEVELS = {
    "one level": ("netnice", "netnice"),
    "0 and 1": ("netnice", "netnice1"),
    "0 and 2": ("netnice", "netnice2"),
    "Table I, 0 and 1": ("nicer0", "nicer1"),
    "Table I, 0 and 2": ("nicer0", "nicer2"),
}
"""Of the likely and of the others."""
CONNECTIONS = 4
SETTLED, ENDS = 10.0, 60.0


@dataclass(frozen=True)
class Kinds:
    """What each kind of prefetching has, Mbit/s."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Goodput once all have started."""
        rates = {
            kind: goodput(sampled.flow, sampled.groups[kind], SETTLED, ENDS - 1) for kind in ("likely", "unlikely")
        }
        return {"first_share": rates["likely"] / max(sum(rates.values()), 1e-9)}


def prefetching(levels: str, load: float, seed: int) -> Scenario:
    """20 Mbit/s and 40 ms; documents ask for `load` of it, four connections a kind prefetch without end."""
    likely, unlikely = LEVELS[levels]
    made = today("none", load=load, flows=0, seed=seed, duration=ENDS)
    flows = (
        Bulk("bulk", "home", CONNECTIONS, likely, (0.5, 5.5), group="likely"),
        Bulk("bulk", "home", CONNECTIONS, unlikely, (0.5, 5.5), group="unlikely"),
    )
    return replace(made, traffic=(*made.traffic, *flows), sample=0.5, measure=Kinds())


def kinds(levels: str, load: float) -> Cell:
    """A cell."""
    return {"levels": levels, "load": load}


EXPERIMENTS["nicer-prefetch"] = Experiment(
    title="Prefetching at two levels beside documents: what is likely comes first",
    claim="TCP Nicer, section I: objects could be prefetched hierarchically, by their importance. It was not tried.",
    differs="Prefetching is four backlogged connections a kind: what a client would prefetch with hints without end.",
    sweep={"levels": tuple(LEVELS), "load": (0.1, 0.5)},
    scenario=prefetching,
    figures=[
        Figure("load", "first_share", "levels", "part that documents ask for", "the likely, of all prefetched"),
        Figure("load", "latency", "levels", "part that documents ask for", "document latency, ms"),
    ],
    tables=[Table("kinds", ("levels",), "load", [Number("first_share"), Number("latency", 0)])],
    seeds=5,
    pinned={"first_share": 0.10, "latency": 0.10},
    bars=[
        Bar(f"load {load:g}: levels {levels}, the likely have most", "first_share", kinds(levels, load), minimum=0.8)
        for levels in ("0 and 1", "0 and 2") for load in (0.1, 0.5)
    ] + [
        Bar(f"load {load:g}: levels {levels}, documents wait no longer", "latency", kinds(levels, load),
            kinds("one level", load), maximum=1.05)
        for levels in ("0 and 1", "0 and 2") for load in (0.1, 0.5)
    ],
)  # fmt: skip

# A level by the hour: 2 while others ask for more than the half of a path, 0 at night.
BUSY = 0.45
FIXED = {"level 0": "netnice", "level 1": "netnice1", "level 2": "netnice2"}


def by_hour(level: str, path: str, hour: int, seed: int) -> Scenario:
    """One background transfer of ten seconds beside other people's documents of an hour, or none."""
    name = ("netnice2" if LOADS[hour] > BUSY else "netnice") if level == "by the hour" else FIXED[level]
    return hourly(path, hour, f"{name}/null", seed)


def over_the_day(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over all hours of a path."""
    keys = ["level", "path", "seed"]
    return frame.groupby(keys, sort=False)[["primary", "latency_geometric"]].mean().reset_index()


def of_all_hours(level: str) -> Cell:
    """A cell of all paths and hours."""
    return {"level": level}


EXPERIMENTS["nicer-hours"] = Experiment(
    title="A level by the hour beside others' documents: goodput and their latency over a day",
    claim="TCP Nicer, section VI: the level of a flow could change automatically. It was not tried.",
    differs="Known hours, not a measurement: level 2 at 12, 16 and 20 h, level 0 at night. The paths of nice-fig9.",
    sweep={"level": (*FIXED, "by the hour"), "path": ON, "hour": tuple(LOADS)},
    scenario=by_hour,
    figures=[
        Figure("path", "primary", "level", "", "Mbit/s over the day"),
        Figure("path", "latency_geometric", "level", "", "others' document latency, ms"),
    ],
    tables=[Table("hours", ("level",), "path", [Number("primary"), Number("latency_geometric", 0)])],
    derive=over_the_day,
    seeds=2,
    pinned={"primary": 0.15, "latency_geometric": 0.10},
    bars=[
        Bar("by the hour: others wait less than beside level 0", "latency_geometric", of_all_hours("by the hour"),
            of_all_hours("level 0"), maximum=1.0),
        Bar("by the hour: more than level 2 has", "primary", of_all_hours("by the hour"), of_all_hours("level 2"),
            minimum=1.05),
    ],
)  # fmt: skip
