# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 13: a live flow becomes background and starts from the estimate of its sender's window."""

from experiments.vulture.world.curves import windows
from experiments.vulture.world.figures import FAITHFUL, RUNS, report_figure
from experiments.vulture.world.scenarios import switched_beside
from netnice_lab.model.experiment import Bar, Figure, Timeline

RECEIVERS = ("tide", FAITHFUL)
MORE = "{seeds} runs have {mean} ± {half}: beside another flow the estimate is a segment more than the window in most"

experiment = report_figure(
    title="Vulture, figure 13: the window at the switch",
    claim="When the second forward direction flow is just set into LBE mode (at time 45 seconds), its rwnd is set to "
    "cwnd estimate of that time, which is smaller than the cwnd maintained by the sender.",
    differs="The estimate is exact here: in units of 1 ms instead of 4, and nothing was just lost.",
    sweep={"receiver": RECEIVERS, "sender": ("cubic",)},
    scenario=switched_beside,
    figures=[Figure("receiver", "taken", "sender", "receiver", "window at the switch, of the estimate")],
    timelines=[Timeline({"receiver": name}, "segments", windows) for name in RECEIVERS],
    seeds=RUNS,
    pinned=("taken", "estimate"),
    bars=[
        Bar(f"{name}: {says}", metric, {"receiver": name}, None, least, most, holds=metric != "estimate", reason=MORE)
        for name in RECEIVERS
        for says, metric, least, most in (
            ("the estimate is taken", "taken", 0.95, 1.05),
            ("and is no more than the sender's window", "estimate", 0.90, 1.01),
        )
    ],
)
