# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How much of Vulture's figure 9 is its testbed: the same with packets that are more or less exactly spaced."""

from experiments.vulture.world.figures import FAITHFUL, report_figure
from experiments.vulture.world.scenarios import on_off
from netnice_lab.model.experiment import Bar, Figure

experiment = report_figure(
    title="Vulture's figure 9 with other jitter",
    claim="0.56 of 30 s, 20 s to find 10 Mbit/s, on machines whose jitter the report does not state.",
    differs="Not in the report: its mode hangs on the sign of a sum of rounded intervals.",
    sweep={"receiver": ("tide", FAITHFUL), "jitter": (0, 100, 250, 500, 2000)},
    scenario=lambda receiver, jitter, seed: on_off(receiver, 30, seed=seed, jitter=jitter),
    figures=[
        Figure("jitter", "use", "receiver", "jitter, us", "use of the off periods"),
        Figure("jitter", "found", "receiver", "jitter, us", "seconds until 80 % is used"),
    ],
    pinned=("use",),
    bars=[
        Bar("without jitter, far more than the paper", "use", {"receiver": FAITHFUL, "jitter": 0}, minimum=0.62),
        Bar("with 2 ms, next to nothing", "use", {"receiver": FAITHFUL, "jitter": 2000}, maximum=0.10),
    ],
)
