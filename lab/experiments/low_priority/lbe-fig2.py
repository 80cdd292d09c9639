# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figure 2: each flavour joins a backlogged Nice."""

from experiments.low_priority.world.access import FLAVOURS, WIFI, bulk, scenario
from netnice_lab.model.experiment import Bar, Experiment, Figure

experiment = Experiment(
    title="A flavour joins a backlogged Nice on a Wi-Fi-like link: the newcomer's share",
    claim="Nice shares equally the traffic with Vegas, but is otherwise lower priority than any other protocol.",
    differs="A share is the mean over the 20 s that begin 5 s after the newcomer. netnice1 and netnice2 have "
    "nothing here even alone (lbe-fig1).",
    sweep={"protocol": FLAVOURS, "link": ("wifi",)},
    scenario=lambda protocol, link, seed: scenario(
        WIFI, (bulk("second", "netnice", (0.0, 0.5)), bulk("first", protocol, (10.0, 10.5))),
        (protocol, "netnice"), 35.0, 15.0, seed,
    ),
    figures=[Figure("protocol", "first_share", "link", "", "the newcomer's part of both goodputs")],
    seeds=3,
    pinned={"first_share": 0.10, "total": 0.05},
    quick={"protocol": ("cubic",)},
    bars=[
        Bar(f"Nice is below {name}", "first_share", {"protocol": name}, minimum=0.75)
        for name in ("cubic", "reno", "bbr", "nnledbat", "nnledbatpp", "lp")
    ] + [
        Bar("Nice shares equally with Vegas", "first_share", {"protocol": "vegas-1-3"}, minimum=0.4, maximum=0.6),
        Bar("Nice shares equally with Nice", "first_share", {"protocol": "netnice"}, minimum=0.4, maximum=0.6),
    ],
)  # fmt: skip
