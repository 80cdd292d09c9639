# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 15: goodputs of a background download and of the steady foreground of 6 Mbit/s beside it."""

from experiments.vulture.world.curves import course
from experiments.vulture.world.figures import FAITHFUL, faithful, report_figure
from netnice_lab.model.experiment import Bar, Figure

experiment = report_figure(
    title="Vulture, figure 15: goodputs beside 6 Mbit/s",
    claim="The existence of the LBE flow does not make the BE flow lose its goodput (5.97, 5.98, 5.97 Mbit/s before, "
    "beside and after it); LBE 2.84 Mbit/s, bandwidth utilization ratio 0.83.",
    figures=[Figure("sender", "use", "receiver", "sender", "part of the spare used")],
    timelines=[course({"receiver": name}) for name in ("tide", FAITHFUL)],
    quick={"receiver": ("tide",)},
    pinned=("use",),
    bars=[
        Bar("goodput kept", "foreground_kept", {"receiver": "tide"}, minimum=0.99),
        Bar("use of what is left", "use", {"receiver": "tide"}, minimum=0.93),
        faithful("goodput kept", "foreground_kept", 1.0, {}),
        faithful("use of what is left", "use", 0.83, {}),
    ],
)
