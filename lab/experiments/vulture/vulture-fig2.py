# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 2: a receiver that yields to any queue, its own included, wastes what others leave."""

from experiments.vulture.world.curves import course
from experiments.vulture.world.figures import FAITHFUL, NOISE, RUNS, faithful, report_figure
from experiments.vulture.world.scenarios import on_off
from netnice_lab.model.experiment import Bar, Figure

CAUTIOUS = "vulture_cautious"

experiment = report_figure(
    title="Vulture, figure 2: over-cautious",
    claim="An LBE sender that reduces its sending rate as soon as it detects a queue no matter who builds up the queue "
    "cannot fully utilize the spare bandwidth even when the BE flow is turned off for almost 30 seconds: 0.21.",
    sweep={"receiver": (CAUTIOUS, FAITHFUL), "period": (30,)},
    scenario=on_off,
    figures=[Figure("receiver", "use", "period", "receiver", "use of the off periods")],
    timelines=[course({"receiver": CAUTIOUS})],
    seeds=RUNS,
    pinned=("use", "share"),
    bars=[
        faithful("use of the off periods", "use", 0.21, {"receiver": CAUTIOUS}, holds=False, reason=NOISE),
        Bar("of what both modes use", "use", {"receiver": CAUTIOUS}, {"receiver": FAITHFUL}, maximum=0.21 / 0.56),
    ],
)
