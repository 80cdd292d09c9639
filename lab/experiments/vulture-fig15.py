# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figures 15 and 16: a background download beside a steady foreground of 6 Mbit/s."""

from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.yielding import DIFFERS, NOISE, PINNED, beside_steady, course, faithful

RECEIVERS = ("tide", "vulture_jiffies", "vulture", "rledbat")

experiment = Experiment(
    title="Vulture, figures 15 and 16: beside 6 Mbit/s",
    claim="The existence of the LBE flow does not make the BE flow lose its goodput; bandwidth utilization ratio 0.83; "
    "overall, the LBE flow adds 40% delay to the BE flow.",
    differs=DIFFERS,
    sweep={"receiver": RECEIVERS, "sender": ("cubic",)},
    scenario=lambda receiver, sender, seed: beside_steady(receiver, sender, seed),
    figures=[
        Figure("sender", "use", "receiver", "sender", "part of the spare used"),
        Figure("sender", "rtt_added", "receiver", "sender", "RTT added to the foreground"),
    ],
    timelines=[course({"receiver": name}) for name in ("tide", "vulture_jiffies")],
    seeds=1,
    pinned={key: PINNED[key] for key in ("use", "rtt_added")},
    bars=[
        Bar("goodput kept", "foreground_kept", {"receiver": "tide"}, minimum=0.99),
        Bar("use of what is left", "use", {"receiver": "tide"}, minimum=0.93),
        Bar("RTT added", "rtt_added", {"receiver": "tide"}, maximum=0.06),
        faithful("goodput kept", "foreground_kept", 1.0, {}),
        faithful("use of what is left", "use", 0.83, {}),
        faithful("RTT added", "rtt_added", 0.40, {}, holds=False, reason=NOISE),
    ],
)
