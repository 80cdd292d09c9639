# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figure 16: the round-trip time of the steady foreground, of the same runs as figure 15."""

from experiments.vulture.world.curves import round_trips
from experiments.vulture.world.figures import FAITHFUL, faithful, report_figure
from netnice_lab.model.experiment import Bar, Figure, Timeline

SHORTER = (
    "{seeds} runs have {mean} ± {half}, with the paper's use of what is left (figure 15): its queue is shorter here"
)
WHEN = {"before": 104, "beside": 146, "after": 104}

experiment = report_figure(
    title="Vulture, figure 16: the foreground's RTT beside a background download",
    claim="The average RTT of the BE flow is 104 ms in the first period, 146 ms in the second, 104 ms in the third; "
    "overall, the LBE flow adds 40% delay to the BE flow.",
    figures=[
        Figure("receiver", f"rtt_{when}", "sender", "receiver", f"foreground's RTT {when} the background, ms")
        for when in WHEN
    ],
    timelines=[Timeline({"receiver": name}, "RTT, ms", round_trips) for name in ("tide", FAITHFUL)],
    pinned=("rtt_added", *(f"rtt_{when}" for when in WHEN)),
    bars=[
        Bar("RTT added", "rtt_added", {"receiver": "tide"}, maximum=0.06),
        faithful("RTT added", "rtt_added", 0.40, {}, holds=False, reason=SHORTER),
        *(
            faithful(f"RTT {when}, ms", f"rtt_{when}", paper, {}, holds=when != "beside", reason=SHORTER)
            for when, paper in WHEN.items()
        ),
    ],
)
