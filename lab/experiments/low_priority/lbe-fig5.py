# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figure 5: data rates of two equal flows on three kinds of access."""

from experiments.low_priority.world.access import FLAVOURS, JITTER, LEVELS, alone
from netnice_lab.model.experiment import Bar, Experiment, Figure

SLOW = {
    ("lan", "nnledbatpp"): "its gain is 1/12 on a 10 ms path by the draft: it takes minutes to fill 1 Gbit/s, and a "
    "tenth for slowdowns",
    ("adsl", "netnice2"): "two flows' pairs meet, each 24 ms of a 50 ms path; one flow by itself has 95 %",
    ("wifi", "netnice1"): JITTER,
    ("wifi", "netnice2"): JITTER,
}

experiment = Experiment(
    title="Two flows of one flavour: 1 Gbit/s, Wi-Fi-like, 1 Mbit/s ADSL with a deep buffer",
    claim="For low capacities differences are less remarkable; performance discrepancies start to appear under "
    "Wi-Fi and are more evident at 1 Gbit/s, where Nice has less than half the throughput of the others.",
    differs="Paths to two public servers there, one path a kind of access here.",
    sweep={"link": ("lan", "wifi", "adsl"), "protocol": FLAVOURS},
    scenario=lambda link, protocol, seed: alone(protocol, link, seed, flows=2, duration=20.0),
    figures=[
        Figure("link", "first", "protocol", "access", "both flows, Mbit/s", False, True),
        Figure("link", "first_rtt", "protocol", "access", "RTT at the end, ms", False, True),
    ],
    seeds=2,
    quick={"link": ("adsl",), "protocol": ("cubic", "netnice", "netnice1")},
    pinned={"first": 0.05},
    bars=[
        Bar(f"{name} fills {link}", "first", {"link": link, "protocol": name}, {"link": link, "protocol": "cubic"},
            minimum=0.85, holds=(link, name) not in SLOW, reason=SLOW.get((link, name), ""))
        for link in ("lan", "wifi", "adsl") for name in ("vegas-1-3", *LEVELS, "nnledbat", "nnledbatpp")
    ],
)  # fmt: skip
