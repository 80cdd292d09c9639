# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A stranger joins a download that yields, and its queue may stand still: is it taken for a longer route?"""

from experiments.vulture.world.figures import report_figure
from experiments.vulture.world.scenarios import joined
from netnice_lab.model.experiment import Bar, Figure

LEAST = {"cubic": 0.99, "reno": 0.99, "bbr": 0.98, "vegas-1-3": 0.98, "nnledbat": 0.98, "nnledbatpp": 0.98}
"""What each has to keep of what it has alone. The last four measure delays, to which a segment a round trip adds."""
SENDERS = ("cubic", "bbr")
DATAGRAMS = ("udp-9.9", "udp-10.1", "udp-12")

experiment = report_figure(
    title="A stranger that joins: senders whose queue moves, senders whose queue stands still, too much UDP",
    claim="Not in the report. A queue that stands still is what a longer route looks like.",
    differs="Not in the report.",
    sweep={"receiver": ("tide", "absent"), "stranger": (*LEAST, *DATAGRAMS), "sender": SENDERS},
    scenario=joined,
    figures=[
        Figure("stranger", "foreground_got", "receiver", "stranger", "Mbit/s of the stranger"),
        Figure("stranger", "background_got", "receiver", "stranger", "Mbit/s of the background"),
        Figure("stranger", "udp_loss", "receiver", "stranger", "part of the datagrams lost"),
    ],
    pinned=("background_got",),
    bars=[
        *(Bar(f"{name}, beside a {sender} sender that yields", "foreground_got",
              {"receiver": "tide", "stranger": name, "sender": sender},
              {"receiver": "absent", "stranger": name, "sender": sender}, minimum=least)
          for name, least in LEAST.items() for sender in SENDERS),
        *(Bar(f"{name}: next to nothing is left to a {sender} sender", "background_got",
              {"receiver": "tide", "stranger": name, "sender": sender}, maximum=0.5)
          for name in (*LEAST, *DATAGRAMS) for sender in SENDERS),
    ],
)  # fmt: skip
