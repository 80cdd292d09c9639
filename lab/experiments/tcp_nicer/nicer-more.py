# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How many more levels there could be: the ladder's core with other parameters, between netnice1 and 2, and below."""

from dataclasses import replace
from functools import partial

from experiments.tcp_nicer.world.levels import PAPER_BUFFER, PAPER_RATE, beside, kept
from netnice_lab.model.experiment import Experiment, Figure, Number, Table
from netnice_lab.model.parameters import Parameters
from netnice_lab.model.scenario import Scenario

OTHER: dict[str, dict[str, int]] = {
    "between": {
        "band_packets": 7, "band_us": 550, "add": 362, "start_window": 1448, "soft_shift": 4, "soft_cuts": 3,
        "quiet_rounds": 12, "climb": 3, "min_window": 24, "peer_gap": 1500,
    },
    "half": {"band_packets": 2, "band_us": 250},
    "quarter": {"band_packets": 1, "band_us": 125},
    "meeker": {
        "band_packets": 2, "band_us": 400, "add": 32, "start_window": 256, "soft_cuts": 1, "quiet_rounds": 32,
        "keep": 128, "min_window": 8, "peer_gap": 4000,
    },
}  # fmt: skip
"""What differs from netnice2 in levels that do not exist."""


def changes(algorithm: str, level: str) -> tuple[tuple[str, int], ...]:
    """What makes a level, an existing or another one, of an algorithm."""
    found = Parameters.read()
    own, wanted = (dict(zip(found.names, found.rows[one], strict=True))
                   for one in (algorithm, "netnice2" if level in OTHER else level))  # fmt: skip
    return tuple(sorted((wanted | OTHER.get(level, {})).items() - own.items()))


def run(rate: float, pair: str, first: str, flows: int, seed: int) -> Scenario:
    """The two algorithms of that core, each with the parameters of a level."""
    upper, lower = pair.split(":")
    buffer = PAPER_BUFFER if rate == PAPER_RATE else 1.0
    scenario = beside("netnice1", "netnice2", flows, seed, rate, buffer, upper_first=first == "upper")
    return replace(scenario, parameters=tuple(
        (algorithm, changed) for algorithm, level in (("netnice1", upper), ("netnice2", lower))
        if (changed := changes(algorithm, level))
    ))  # fmt: skip


KEYS = ("rate", "pair", "first")
PAIRS = (
    "netnice2:netnice2", "netnice1:netnice2", "netnice1:between", "between:netnice2",
    "netnice2:half", "half:quarter", "netnice2:meeker",
)  # fmt: skip

experiment = Experiment(
    title="Levels between netnice1 and netnice2, and below netnice2",
    claim="TCP Nicer: extending beyond this many levels will require more advanced techniques. Ours: one, below "
    "netnice2: over a level that is meeker in everything netnice2 keeps .97 or more at 10 and 100 Mbit/s, but not "
    "where that level was there first at 100. Half of netnice2's band is too little (.87, .15), and so is a level "
    "between netnice1 and netnice2 (.85 to .96). netnice1 over netnice2 keeps .97, an equal (netnice2:netnice2, "
    "strangers to each other) .15 to .38.",
    differs="Both are the ladder's core, with other parameters. Beside 19 lower flows nearly every pair keeps 0.95 at "
    "10 and 100 Mbit/s, but so does netnice2 beside its equals: 19 keep each other small. One beside one "
    "tells levels apart.",
    sweep={"rate": (PAPER_RATE, 10.0, 100.0), "pair": PAIRS, "first": ("upper", "lower"), "flows": (0, 1, 19)},
    scenario=run,
    figures=[Figure("pair", "kept", "rate", "", "goodput of the upper, of alone")],
    tables=[
        Table("more", ("pair", "first", "flows"), "rate", [
            Number("kept", least=0.95), Number("latency", most=1.05), Number("filled", least=0.9),
            Number("filled_alone"),
        ])
    ],
    derive=partial(kept, keys=KEYS),
    seeds=1,
    pinned={"upper": 0.10},
)  # fmt: skip
