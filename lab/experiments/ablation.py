# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What each mechanism of netnice buys: the same conditions without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.frontier import today
from experiments.lines import at_home, by_radio, rerouted
from experiments.low_priority.access import alone
from experiments.tcp_nicer.levels import beside
from netnice_lab.engine.changes import ABLATIONS
from netnice_lab.model.experiment import Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}

NAME = "netnice"
BY_PARAMETER = {
    "below-one-segment": {"min_window": 4096},
    "few-awake": {"peer_gap": 0},
    "queue-floor": {"queue_floor": 0},
}
"""What a parameter switches off."""
WHERE: dict[str, tuple[Callable[[int], Scenario], str]] = {
    "1 upload": (lambda seed: today(NAME, flows=1, seed=seed), "background"),
    "16": (lambda seed: today(NAME, flows=16, seed=seed), "background"),
    "16, ½ BDP": (lambda seed: today(NAME, flows=16, buffer=0.5, seed=seed), "background"),
    "ADSL": (lambda seed: alone(NAME, "adsl", seed), "first"),
    "both ways": (lambda seed: at_home(NAME, "symmetric", "both", True, seed), "up"),
    "CUBIC back": (lambda seed: at_home(NAME, "symmetric", "beside", True, seed), "up"),
    "LTE": (lambda seed: by_radio(NAME, "lte", seed), "background"),
    "Wi-Fi": (lambda seed: by_radio(NAME, "wifi", seed), "background"),
    "satellite": (lambda seed: by_radio(NAME, "satellite", seed), "background"),
    "route": (lambda seed: rerouted(NAME, "there", "up", True, seed), "background"),
    "over 19": (lambda seed: beside("cubic", NAME, 19, seed, 100.0, 1.0), "upper"),
}
"""The scenario, and the column of its runs that has the goodput: netnice's, but over 19 flows of it CUBIC's."""
WITHOUT = ("nothing", *BY_PARAMETER, *ABLATIONS)


def scenario(without: str, where: str, seed: int) -> Scenario:
    """A condition, and netnice without a mechanism."""
    found = WHERE[where][0](seed)
    if without in ABLATIONS:
        return replace(found, without=(without,))
    changed = tuple(BY_PARAMETER.get(without, {}).items())
    return replace(found, parameters=((NAME, changed),)) if changed else found


def parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Goodput and the pages' latency as parts of what they are with all mechanisms."""
    frame = frame.assign(goodput=[row[WHERE[row["where"]][1]] for _, row in frame.iterrows()])
    complete = frame[frame.without == "nothing"].set_index(["where", "seed"])
    rows = frame.join(complete[["goodput", "latency_geometric"]], on=["where", "seed"], rsuffix="_complete")
    return rows.assign(
        goodput_part=rows.goodput / rows.goodput_complete,
        latency_part=rows.latency_geometric / rows.latency_geometric_complete,
    )


EXPERIMENTS["ablation"] = Experiment(
    title="netnice without one of its mechanisms: goodput and the pages' latency, as parts of those with all",
    claim="A mechanism earns its lines, or it goes.",
    sweep={"without": WITHOUT, "where": tuple(WHERE)},
    scenario=scenario,
    figures=[Figure("without", "goodput_part", "where", "without", "goodput, of that with all")],
    tables=[Table("ablation", ("without",), "where", [Number("goodput_part"), Number("latency_part")])],
    derive=parts,
)
