# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture, figures 11, 12 and 17: one flow alone, background in the middle of its life; the estimate of its window."""

from netnice_lab.experiment import Bar, Experiment, Figure
from netnice_lab.yielding import DIFFERS, PINNED, switched

experiment = Experiment(
    title="Vulture, figures 11, 12 and 17: alone, background from 45 to 135 s",
    claim="The bandwidth utilization ratio for the whole LBE period is 93%, and for the stabilized LBE period is 99%. "
    "The cwnd estimates can keep up the change of the sender side cwnd although a little bit less than the real ones.",
    differs=DIFFERS,
    sweep={"receiver": ("tide", "vulture_jiffies", "vulture", "rledbat"), "sender": ("cubic", "reno", "bbr")},
    scenario=lambda receiver, sender, seed: switched(receiver, sender, seed),
    figures=[
        Figure("sender", "use", "receiver", "sender", "part of the link used"),
        Figure("sender", "estimate", "receiver", "sender", "estimate as a part of the sender's window"),
    ],
    seeds=1,
    pinned={"use": PINNED["use"]},
    bars=[
        bar
        for sender in ("cubic", "reno")
        for bar in (
            Bar(f"{sender}, whole period", "use", {"receiver": "tide", "sender": sender}, minimum=0.97),
            Bar(f"{sender}, settled", "use_settled", {"receiver": "tide", "sender": sender}, minimum=0.99),
        )
    ],
)
