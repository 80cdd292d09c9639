# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 18: the ideal of a background beside a foreground that is on and off, and how near we come."""

from experiments.vulture.world.curves import LONGEST, beside_ideal
from experiments.vulture.world.figures import FAITHFUL, report_figure
from experiments.vulture.world.scenarios import on_off
from netnice_lab.model.experiment import Bar, Figure, Timeline

RECEIVERS = ("tide", FAITHFUL, "rledbat")

experiment = report_figure(
    title="Vulture, figure 18: on and off, beside the ideal",
    claim="An ideal situation, on and off for exactly 30 s (drawn, not measured): when the BE flow is on, the LBE flow "
    "only uses a small portion of the bandwidth; when it is off, almost all; the two curves complement each other and "
    "the bandwidth is fully utilized by the two flows.",
    differs="The paper draws the ideal only; its measured numbers are figure 19's.",
    sweep={"receiver": RECEIVERS, "period": (LONGEST,)},
    scenario=on_off,
    figures=[
        Figure("receiver", "use", "period", "receiver", "use of the off periods (ideal: 1)"),
        Figure("receiver", "share", "period", "receiver", "share of the on periods (ideal: 0)"),
        Figure("receiver", "filled", "period", "receiver", "part of the link both fill (ideal: 1)"),
    ],
    timelines=[Timeline({"receiver": name}, "Mbit/s", beside_ideal) for name in RECEIVERS],
    pinned=("use", "share", "filled"),
    bars=[
        Bar("almost all while off", "use", {"receiver": "tide"}, minimum=0.92),
        Bar("a small portion while on", "share", {"receiver": "tide"}, maximum=0.03),
        Bar("both fill the link", "filled", {"receiver": "tide"}, minimum=0.95),
        Bar("nobody gets more than there is", "filled", {"receiver": "tide"}, maximum=1.001),
    ],
)
