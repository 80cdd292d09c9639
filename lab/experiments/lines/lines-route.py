# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A route change: the way there or the way back becomes 100 ms longer or shorter under a flow alone."""

from experiments.lines.world.lines import rerouted
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure

CHANGES = tuple((way, step, stamps) for way in ("there", "back") for step in ("up", "down") for stamps in (True, False))


def found(way: str, step: str, stamps: bool) -> Bar:
    """Beside CUBIC over the same change, with and without timestamps."""
    cell: Cell = {"way": way, "step": step, "stamps": stamps}
    return Bar(f"the way {way} {step} {stamps}", "background", {"protocol": "netnice", **cell},
               {"protocol": "cubic", **cell}, minimum=0.9)  # fmt: skip


experiment = Experiment(
    title="Route change at 10 Mbit/s, RTT 40 and 140 ms: goodput from 10 s to 30 s after it",
    claim="Not in the papers; Nice and LEDBAT name it as a weakness.",
    sweep={
        "protocol": ("cubic", "netnice"), "way": ("there", "back"), "step": ("up", "down"), "stamps": (True, False),
    },
    scenario=lambda protocol, way, step, stamps, seed: rerouted(protocol, way, step, stamps, seed),
    figures=[Figure("way", "background", "protocol", "", "goodput, Mbit/s", panel="step")],
    seeds=1,
    quick={"step": ("up",), "stamps": (True,)},
    pinned={"background": 0.1},
    bars=[found(*change) for change in CHANGES],
)  # fmt: skip
