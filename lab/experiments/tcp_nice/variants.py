# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The faithful core without one of the three things that Nice adds to Vegas, and with what the paper did not test.

Section 2.2 would take percentiles or decaying averages for the smallest and the largest RTT, section 2.3 would pace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.lines.usual import by_radio, rerouted
from experiments.low_priority.access import alone
from experiments.tcp_nice.section4 import paper
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.protocols import Values
from netnice_lab.model.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}
NICE = "nice"
VARIANTS: dict[str, tuple[tuple[str, ...], Values]] = {
    "as it is": ((), ()),
    "unpaced": ((), (("unpaced", 1),)),
    "percentiles": (("percentile-min", "percentile-max", "below-min"), ()),
    "decaying": (("decaying-min", "decaying-max", "below-min"), ()),
}
"""By changes of engine/changes.py, and parameters. Percentiles are the 2nd and the 98th of some hundred samples,
averages have a gain of 1/256 towards samples within."""
OMISSIONS: dict[str, tuple[tuple[str, ...], Values]] = {
    "no early detection": ((), (("threshold", 100),)),
    "no halving": (("no-halving",), ()),
    "no window below 1": ((), (("min_window", 4096),)),
}
"""Nice without one of its three additions to Vegas: changes and parameters."""
FUNDAMENTALLY = 1.3
"""Times the documents' latency, at least, without one of them; the paper has no number."""
WHERE: dict[str, tuple[Callable[[int], Scenario], str]] = {
    "1 flow": (lambda seed: paper(NICE, flows=1, seed=seed), "background"),
    "16 flows": (lambda seed: paper(NICE, flows=16, seed=seed), "background"),
    "64 flows": (lambda seed: paper(NICE, flows=64, seed=seed), "background"),
    "jitter": (lambda seed: alone(NICE, "wifi", seed), "first"),
    "LTE": (lambda seed: by_radio(NICE, "lte", seed), "background"),
    "longer way": (lambda seed: rerouted(NICE, "there", "up", True, seed), "background"),
}
"""The paper's network, and lines whose RTTs have outliers or whose base changes; the column that has the goodput."""


PAPERS = ("1 flow", "16 flows", "64 flows")
"""Of WHERE: the paper's network."""


def scenario(variant: str, where: str, seed: int) -> Scenario:
    """A condition for a variant."""
    changes, values = (OMISSIONS | VARIANTS)[variant]
    parameters = ((NICE, values),) if values else ()
    return replace(WHERE[where][0](seed), without=changes, parameters=parameters)


def exists(cell: Cell) -> bool:
    """What an omission does to documents is a matter of the paper's network."""
    return cell["variant"] in VARIANTS or cell["where"] in PAPERS


def parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Goodput and the documents' latency as parts of what they are with the core as it is."""
    frame = frame.assign(goodput=[row[WHERE[row["where"]][1]] for _, row in frame.iterrows()])
    complete = frame[frame.variant == "as it is"].set_index(["where", "seed"])
    rows = frame.join(complete[["goodput", "latency"]], on=["where", "seed"], rsuffix="_complete")
    return rows.assign(
        goodput_part=rows.goodput / rows.goodput_complete, latency_part=rows.latency / rows.latency_complete
    )


BY_ONE = (
    "{mean}: at one segment a round trip 16 flows are out of the way in some seconds, and no window below one is left"
)
OF_JITTER = (
    "{mean} of the goodput: between two percentiles there is only the jitter itself, and a tenth of that is passed in "
    "every round; what is ever largest holds a whole queue"
)
BETTER = 1.1
"""A suggestion has more goodput where it should help, and costs documents less than that."""


def at(variant: str, where: str) -> Cell:
    """A cell."""
    return {"variant": variant, "where": where}


EXPERIMENTS["nice-variants"] = Experiment(
    title="TCP Nice's omissions and suggestions: goodput and latency as parts of those of the core as it is",
    claim="Omission of any of the three additions to Vegas would fundamentally increase the interference. Percentiles "
    "or decaying averages would be more robust than the smallest and largest RTT ever seen; pacing would sample the "
    "queue better. Neither was tested.",
    differs="The paper's prototype does not pace; our core does, so 'unpaced' is the prototype.",
    sweep={"variant": (*VARIANTS, *OMISSIONS), "where": tuple(WHERE)},
    exists=exists,
    scenario=scenario,
    figures=[
        Figure("where", "goodput_part", "variant", "", "goodput, of that as it is"),
        Figure("where", "latency_part", "variant", "", "documents' latency, of that as it is"),
    ],
    tables=[Table("variants", ("variant",), "where", [Number("goodput_part"), Number("latency_part")])],
    derive=parts,
    seeds=5,
    pinned={"latency": 0.10, "background": 0.10, "first": 0.10},
    bars=[
        Bar(f"unpaced, {where}: documents wait no longer", "latency", at("unpaced", where), at("as it is", where),
            maximum=1.1)
        for where in PAPERS
    ] + [
        Bar(f"{omission}, {where}: documents wait longer", "latency", at(omission, where), at("as it is", where),
            minimum=FUNDAMENTALLY, holds=omission != "no halving", reason=BY_ONE)
        for omission, where in (
            ("no early detection", "16 flows"), ("no halving", "16 flows"), ("no window below 1", "64 flows"),
        )
    ] + [
        Bar(f"{variant}, {where}: more goodput", WHERE[where][1], at(variant, where), at("as it is", where),
            minimum=BETTER, holds=where != "jitter", reason=OF_JITTER)
        for variant, where in (("percentiles", "jitter"), ("percentiles", "longer way"), ("decaying", "longer way"))
    ] + [
        Bar(f"{variant}, 16 flows: documents wait no longer", "latency", at(variant, "16 flows"),
            at("as it is", "16 flows"), maximum=BETTER)
        for variant in ("percentiles", "decaying")
    ],
)  # fmt: skip
