# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 14: a live flow becomes background beside another of 6 Mbit/s, and foreground again."""

from experiments.vulture.world.curves import course
from experiments.vulture.world.figures import FAITHFUL, faithful, report_figure
from experiments.vulture.world.scenarios import switched_beside
from netnice_lab.model.experiment import Bar, Figure

GRANTED = (
    "{mean}, 1.00 from the fourth second on: the right edge never moves left, and before the switch the kernel's own "
    "window had granted 2 MB: the sender uses them up first"
)

experiment = report_figure(
    title="Vulture, figure 14: from foreground to background and back",
    claim="During the second period, the BE flow can send at, on average, 5.58 Mbit/s, which is 93% of its full speed. "
    "In the meanwhile, the LBE flow can make use of 83% of the spare bandwidth.",
    sweep={"receiver": ("tide", FAITHFUL, "rledbat"), "sender": ("cubic",)},
    scenario=switched_beside,
    figures=[
        Figure("receiver", "foreground_got", "sender", "receiver", "of 6 Mbit/s for the foreground"),
        Figure("receiver", "use", "sender", "receiver", "of the rest for the background"),
    ],
    timelines=[course({"receiver": name}) for name in ("tide", FAITHFUL)],
    pinned=("foreground_got", "use"),
    bars=[
        Bar("foreground, of its 6 Mbit/s", "foreground_got", {"receiver": "tide"}, minimum=0.99,
            holds=False, reason=GRANTED),
        Bar("background, of the rest", "use", {"receiver": "tide"}, minimum=0.93),
        faithful("foreground, of its 6 Mbit/s", "foreground_got", 0.93, {}),
        faithful("background, of the rest", "use", 0.83, {}),
    ],
)  # fmt: skip
