# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 17: one flow alone, background in the middle of its life."""

from experiments.vulture.world.curves import course
from experiments.vulture.world.figures import FAITHFUL, NOISE, RECEIVERS, faithful, report_figure
from experiments.vulture.world.scenarios import switched
from netnice_lab.model.experiment import Bar, Figure

DRAINS = "{mean}: every ten seconds the sender itself drains the path to see its base; it had .967 as foreground, too"

experiment = report_figure(
    title="Vulture, figure 17: alone, background from 45 to 135 s",
    claim="The bandwidth utilization ratio for the whole LBE period is 93%, and for the stabilized LBE period is 99%.",
    sweep={"receiver": RECEIVERS, "sender": ("cubic", "reno", "bbr")},
    scenario=switched,
    figures=[Figure("sender", "use", "receiver", "sender", "part of the link used")],
    timelines=[course({"receiver": name, "sender": "cubic"}) for name in ("tide", FAITHFUL)],
    quick={"receiver": ("tide",), "sender": ("cubic",)},
    pinned=("use",),
    bars=[
        bar
        for sender in ("cubic", "reno", "bbr")
        for bar in (
            Bar(f"{sender}, whole period", "use", {"receiver": "tide", "sender": sender}, minimum=0.97,
                holds=sender != "bbr", reason=DRAINS),
            Bar(f"{sender}, settled", "use_settled", {"receiver": "tide", "sender": sender}, minimum=0.99,
                holds=sender != "bbr", reason=DRAINS),
        )
    ]
    + [Bar("bbr, of what it had before", "kept", {"receiver": "tide", "sender": "bbr"}, minimum=0.99)]
    + [
        faithful("whole period", "use", 0.93, {"sender": "cubic"}),
        faithful("settled", "use_settled", 0.99, {"sender": "cubic"}, holds=False, reason=NOISE),
    ],
)  # fmt: skip
