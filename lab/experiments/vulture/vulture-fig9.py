# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 9: how long it takes to find 10 Mbit/s that somebody set free."""

from experiments.vulture.world.curves import course
from experiments.vulture.world.figures import FAITHFUL, faithful, report_figure
from experiments.vulture.world.scenarios import on_off
from netnice_lab.model.experiment import Bar, Figure

experiment = report_figure(
    title="Vulture, figure 9: 10 Mbit/s set free every minute",
    claim="Overall bandwidth utilization ratio 0.56. It takes the LBE flow about 20 seconds to discover 10 Mbit/s.",
    differs="Found is 80 % of the capacity for half a second; the paper's 20 s are read off its figure.",
    sweep={"receiver": ("tide", "as_sender", FAITHFUL, "rledbat"), "period": (30,)},
    scenario=on_off,
    figures=[Figure("receiver", "found", "period", "receiver", "seconds until 80 % of what was set free is used")],
    timelines=[course({"receiver": name}) for name in ("tide", FAITHFUL)],
    more_seeds=[({"receiver": name}, 5) for name in ("tide", "as_sender")],
    quick={"receiver": ("tide",)},
    pinned=("use", "found"),
    bars=[
        Bar("found within 2 s", "found", {"receiver": "tide"}, maximum=2.0),
        Bar("as the sender: found within 2 s", "found", {"receiver": "as_sender"}, maximum=2.0, holds=False,
            reason="{mean} s: it grows by a quarter a round trip, TIDE doubles to what it remembers"),
        faithful("use of the off periods", "use", 0.56, {}),
        faithful("seconds to find what is free", "found", 20.0, {}),
    ],
)  # fmt: skip
