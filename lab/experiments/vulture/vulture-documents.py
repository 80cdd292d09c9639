# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Documents beside downloads that yield: what a page waits for them, and what they get of the rest."""

from dataclasses import replace

from experiments.frontier.world.paths import TODAY_DIFFERS, today
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk

NONE = {"kind": "none"}
RECEIVERS = ("tide", "as_sender", "vulture", "rledbat")
MANY = (
    "what is granted comes for one round trip more, from each of them. Before downloads crept together it was 1.37 "
    "beside 16, which then took 83 % of what router priority takes, now 63. A part of a segment also for who has less "
    "than the mean gave 1.14, but 64 flows alone a Jain's index of .68; if each left as soon as another did, 16 alone "
    "used half of a link"
)


def scenario(kind: str, downloads: int, seed: int) -> Scenario:
    """A link of 10 Mbit/s and 40 ms, half of it documents; the downloads come by CUBIC."""
    made = today("cubic" if kind in RECEIVERS else kind, rate=10.0, flows=downloads, seed=seed)
    if kind not in RECEIVERS:
        return made
    traffic = (replace(t, receiver=True) if isinstance(t, Bulk) else t for t in made.traffic)
    return replace(made, traffic=tuple(traffic), receiver=Receiver(kind))


experiment = Experiment(
    title="Documents on half of 10 Mbit/s, 40 ms, beside 1 to 16 downloads",
    claim="Not in the report. The bar: a page beside real downloads takes at most 1.10 times as long.",
    differs=TODAY_DIFFERS,
    sweep={"kind": ("none", "priority", "cubic", *RECEIVERS), "downloads": (1, 4, 16)},
    scenario=scenario,
    figures=[
        Figure("downloads", "latency", "kind", "downloads", "document latency, ms"),
        Figure("downloads", "background", "kind", "downloads", "Mbit/s of the downloads"),
    ],
    tables=[Table("documents", ("kind",), "downloads", [Number("latency", 0), Number("background", 1)])],
    seeds=5,
    pinned={"latency": 0.05, "background": 0.05},
    bars=[
        *(Bar(f"{n} downloads: latency", "latency", {"kind": "tide", "downloads": n}, NONE | {"downloads": n},
              maximum=1.10, holds=n == 1, reason=MANY)
          for n in (1, 4, 16)),
        Bar("16 downloads: far from 16 CUBICs", "latency", {"kind": "tide", "downloads": 16},
            {"kind": "cubic", "downloads": 16}, maximum=0.20),
        Bar("one download: of the spare", "background", {"kind": "tide", "downloads": 1},
            {"kind": "priority", "downloads": 1}, minimum=0.50),
    ],
)  # fmt: skip
