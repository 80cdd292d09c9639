# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What each mechanism of netnice buys: the same conditions without it.

An experiment for each kind of condition: a table of docs/research/ablation.md. Nothing of them is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from experiments import programs
from experiments.frontier import today
from experiments.guidelines import PATHS
from experiments.lines import crowds, policed
from experiments.lines.usual import FAR, NEAR, at_home, by_radio, rerouted, two_ways
from experiments.low_priority.access import alone
from experiments.tcp_nicer.levels import LARGE, LEVELS, beside, round_trip, together
from netnice_lab.engine.changes import ABLATIONS
from netnice_lab.model.experiment import Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk, Change

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}

OURS = NAME, FIRST, SECOND = LEVELS["netnice"][1:]
LATENCY = "latency_geometric"
BY_PARAMETER = {
    "below-one-segment": {"min_window": 4096},
    "longest-gap": {"max_gap": 0},
    "queue-floor": {"queue_floor": 0},
}
"""What a parameter switches off."""
WITHOUT = ("nothing", *BY_PARAMETER, *ABLATIONS)
WEAKEST = (
    *("probe-drain", "loss-halves-memory", "refuted-memory", "shared-step", "base-keeps", "delayed-acks", "slow-round"),
    *("room-below-one", "policer-patience", "excess", "excess-at-cuts", "probe-end"),
    *("cut-by-queue", "waiting-round", "own-room-below-one", "explained", "few-awake", "own-packets-alone"),
    *("lone-segments", "depth-rises", "slow-line", "depth-part", "coming-back", "single-segments", "return"),
    *("reverse-queue", "together", "own-packets-lost", "depth"),
)
"""Mechanisms by the strongest bold entry against going without, the weakest first; the last fourteen are left out.
*short-drain* is one of those, as its change and that of *probe-drain* are of one line."""
FEWER = {f"{len(WITHOUT) - 1 - gone} left": WEAKEST[:gone] for gone in (7, 12, 18, len(WEAKEST))}
"""So many mechanisms at a time."""
SEEDS = 5
MOVED = 0.05
"""Part of a number by which a mechanism must move its mean to show in a table, if the 95 % interval leaves 1 out."""


@dataclass(frozen=True)
class World:
    """A condition by its seed, and the two numbers of its runs that are shown; a run without documents has one."""

    scenario: Callable[[int], Scenario]
    first: str
    second: str = LATENCY


def one(rate: float, seed: int) -> Scenario:
    """A flow by itself, from its start on: 60 s of `rate` Mbit/s, a buffer of a BDP."""
    rtt, capacity = round_trip(rate), int(rate * 1e6)
    network = dumbbell(capacity, rtt, Queue("fifo", bytes=max(6000, capacity * rtt // 8_000_000)))
    flow = Bulk("www", "home", 1, NAME, (0.1, 1.0), group="background")
    return Scenario(network, (flow,), 60.0, 1.0, seed, sysctls=LARGE if rate >= 100 else ())


def beside_turns(flows: int, on: float, seed: int) -> Scenario:
    """Flows beside one of CUBIC that sends for so many seconds, and is silent for as many: 20 Mbit/s, 40 ms."""
    network = dumbbell(20_000_000, 40_000, Queue("fifo", bytes=100_000))
    other = Bulk("www", "home", 1, "cubic", (2.0, 2.0), group="foreground", on=on, off=on)
    ours = Bulk("www", "home", flows, NAME, (0.1, 1.0), group="background")
    return Scenario(network, (other, ours), 40.0, 6.0, seed)


def set_free(flows: int, rate: float, rtt: int, seed: int) -> Scenario:
    """What flows have in the first three seconds after one of CUBIC went: a buffer of a BDP."""
    capacity, began, ended = int(rate * 1e6), 5.0, 20.0
    network = dumbbell(capacity, rtt, Queue("fifo", bytes=capacity * rtt // 8_000_000))
    other = Bulk("www", "home", 1, "cubic", (began, began), stop=ended, group="foreground")
    ours = Bulk("www", "home", flows, NAME, (0.1, 1.0), group="background")
    return Scenario(network, (other, ours), ended + 3.0, ended, seed, sysctls=LARGE if rate >= 100 else ())


def further(seed: int) -> Scenario:
    """One upload, 1 Mbit/s, 40 ms with a jitter of 5; after 60 s the way there is 100 ms longer. From minute ten on."""
    network = two_ways(NEAR, NEAR, rate=1_000_000, buffer=20_000, jitter=5_000)
    change = Change(60.0, "modem", f"qdisc change dev modem-2 root netem delay {FAR}us 5000us limit 1000000")
    return Scenario(network, (Bulk("bulk", "home", 1, NAME, (0.0, 1.0)), change), 700.0, 640.0, seed)


def small_files(seed: int) -> Scenario:
    """A kilobyte every 100 ms for 15 s, then all that one upload can, its first four seconds: 20 Mbit/s, 40 ms."""
    network = dumbbell(20_000_000, 40_000, Queue("fifo", bytes=100_000))
    flow = Bulk("www", "home", 1, NAME, (0.5, 0.6), group="background", message=1000, messages=150, gap=0.1)
    return Scenario(network, (flow,), 20.0, 16.0, seed)


def uploads(flows: int, seed: int, **path: float) -> Scenario:
    """Flows beside documents on half of the path: 20 Mbit/s, 40 ms, a buffer of a BDP if nothing else is said."""
    return today(NAME, flows=flows, seed=seed, **path)  # type: ignore[arg-type]  # rate, rtt and buffer only


WHERE: dict[str, dict[str, World]] = {
    "documents": {
        "1": World(partial(uploads, 1), "background"),
        "16": World(partial(uploads, 16), "background"),
        "100": World(partial(uploads, 100), "background"),
        "1, ½ BDP": World(partial(uploads, 1, buffer=0.5), "background"),
        "16, ½ BDP": World(partial(uploads, 16, buffer=0.5), "background"),
        "4, 1 Mbit/s": World(partial(uploads, 4, rate=1.0), "background"),
    },
    "flows": {
        "alone, 1 Mbit/s": World(partial(one, 1.0), "background"),
        "alone, 100 Mbit/s": World(partial(one, 100.0), "background"),
        "64 flows": World(lambda seed: together(NAME, 64, seed, 10.0), "background", "background_fairness"),
        "4 flows, 100 Mbit/s": World(lambda seed: together(NAME, 4, seed, 100.0), "background", "background_fairness"),
        "64 netnice2, 100 Mbit/s": World(
            lambda seed: together(SECOND, 64, seed, 100.0), "background", "background_fairness"
        ),
        "over 19 netnice1": World(lambda seed: beside(NAME, FIRST, 19, seed, 10.0, 1.0), "upper", "filled"),
        "netnice1 over 19 netnice2": World(lambda seed: beside(FIRST, SECOND, 19, seed, 10.0, 1.0), "upper", "filled"),
        "netnice1 over 19 netnice2, ½ BDP": World(
            lambda seed: beside(FIRST, SECOND, 19, seed, 10.0, 0.5), "upper", "filled"
        ),
        "CUBIC over 16, ½ BDP": World(lambda seed: beside("cubic", NAME, 16, seed, 10.0, 0.5), "upper", "filled"),
        "CUBIC over 19, 100 Mbit/s": World(lambda seed: beside("cubic", NAME, 19, seed, 100.0, 1.0), "upper", "filled"),
    },
    "turns": {
        "1 s": World(partial(beside_turns, 1, 1.0), "background", "foreground"),
        "1 s, 8 flows": World(partial(beside_turns, 8, 1.0), "background", "foreground"),
        "4 s": World(partial(beside_turns, 1, 4.0), "background", "foreground"),
        "free": World(partial(set_free, 1, 20.0, 40_000), "background"),
        "free, 8 flows": World(partial(set_free, 8, 20.0, 40_000), "background"),
        "free, 100 Mbit/s": World(partial(set_free, 1, 100.0, 40_000), "background"),
        "free, 10 Mbit/s, 100 ms": World(partial(set_free, 1, 10.0, 100_000), "background"),
    },
    "lines": {
        "both ways": World(lambda seed: at_home(NAME, "symmetric", "both", True, seed), "up"),
        "CUBIC back": World(lambda seed: at_home(NAME, "symmetric", "beside", True, seed), "up"),
        "ADSL": World(lambda seed: alone(NAME, "adsl", seed), "first"),
        "LTE": World(lambda seed: by_radio(NAME, "lte", seed), "background"),
        "Wi-Fi": World(lambda seed: by_radio(NAME, "wifi", seed), "background"),
        "further": World(further, "background"),
        "route": World(lambda seed: rerouted(NAME, "there", "up", True, seed), "background"),
        "350 kbit/s": World(lambda seed: crowds.playing(NAME, "350k", True, seed), "background", "udp_p95"),
        "policer": World(
            lambda seed: policed.beside(NAME, "burst-125k", "sends", 1, True, seed), "foreground", "background"
        ),
        "policer, 16": World(
            lambda seed: policed.beside(NAME, "burst-125k", "sends", 16, True, seed), "foreground", "background"
        ),
        "policer, 4 alone": World(
            lambda seed: policed.beside(NAME, "burst-125k", "sends", 4, False, seed), "background"
        ),
        "1 % lost": World(lambda seed: PATHS["1 % lost"].scenario(NAME, seed), "background"),
    },
    "programs": {
        "long flow": World(lambda seed: programs.scenario(NAME, "always", "long", seed), "kept_rate", "back_rate"),
        "15 idle": World(lambda seed: programs.scenario(NAME, "idle-15", "documents", seed), "busy"),
        "greeting": World(lambda seed: programs.scenario(NAME, "greeting", "documents", seed), "busy"),
        "6 dead": World(lambda seed: programs.scenario(NAME, "dead-6", "documents", seed), "busy"),
        "small files": World(small_files, "background"),
        "pauses": World(lambda seed: programs.scenario(NAME, "pause-1", "documents", seed), "busy"),
    },
}  # fmt: skip
"""By kind: the condition as its column is named."""
SUBSET = {
    "documents": ("4, 1 Mbit/s",),
    "flows": ("64 flows", "64 netnice2, 100 Mbit/s", "netnice1 over 19 netnice2, ½ BDP"),
    "turns": ("free", "free, 8 flows"),
    "lines": ("CUBIC back", "350 kbit/s", "route", "policer", "policer, 16", "1 % lost"),
}
"""While one works: where all mechanisms that have a bold entry have one, but for *base-window*, which takes 700 s."""
WHERE["subset"] = {where: WHERE[kind][where] for kind, found in SUBSET.items() for where in found}


def scenario(kind: str, without: str, where: str, seed: int) -> Scenario:
    """A condition, and all levels without a mechanism."""
    found = WHERE[kind][where].scenario(seed)
    if without in ABLATIONS:
        return replace(found, without=(without,))
    if without in FEWER:
        return replace(found, without=FEWER[without])
    changed = tuple(BY_PARAMETER.get(without, {}).items())
    return replace(found, parameters=tuple((level, changed) for level in OURS)) if changed else found


def parts(kind: str, frame: pd.DataFrame) -> pd.DataFrame:
    """A condition's two numbers as parts of what they are with all mechanisms."""
    worlds = [WHERE[kind][where] for where in frame["where"]]
    rows = frame.to_dict("records")
    frame = frame.assign(
        first=[row.get(world.first) for row, world in zip(rows, worlds, strict=True)],
        second=[row.get(world.second) for row, world in zip(rows, worlds, strict=True)],
    ).astype({"first": float, "second": float})
    whole = frame[frame.without == "nothing"].set_index(["where", "seed"])[["first", "second"]]
    joined = frame.join(whole, on=["where", "seed"], rsuffix="_whole")
    return joined.assign(
        first_part=joined["first"] / joined["first_whole"], second_part=joined["second"] / joined["second_whole"]
    )


for KIND, WORLDS in WHERE.items():
    EXPERIMENTS[f"ablation-{KIND}"] = Experiment(
        title=f"netnice without one of its mechanisms, as parts of what it has with all of them: {KIND}",
        claim="A mechanism earns its lines, or it goes.",
        sweep={"without": WITHOUT, "where": tuple(WORLDS)},
        scenario=partial(scenario, KIND),
        figures=[Figure("without", "first_part", "where", "without", "goodput, of that with all")],
        tables=[
            Table(KIND, ("without",), "where", [
                Number(part, least=1 - MOVED, most=1 + MOVED, beside=1.0) for part in ("first_part", "second_part")
            ])
        ],
        derive=partial(parts, KIND),
        seeds=1 if KIND == "subset" else SEEDS,
    )  # fmt: skip

for KIND in (kind for kind in WHERE if kind != "subset"):
    EXPERIMENTS[f"ablation-fewer-{KIND}"] = replace(
        EXPERIMENTS[f"ablation-{KIND}"],
        title=f"netnice with fewer mechanisms, as parts of what it has with all of them: {KIND}",
        sweep={"without": ("nothing", *FEWER), "where": tuple(WHERE[KIND])},
        figures=[],
        tables=[
            Table("fewer", ("where",), "without", [
                Number(part, least=1 - MOVED, most=1 + MOVED, beside=1.0) for part in ("first_part", "second_part")
            ])
        ],
    )  # fmt: skip
