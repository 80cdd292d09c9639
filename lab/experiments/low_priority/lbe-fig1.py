# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figure 1: each flavour alone."""

from experiments.low_priority.world.access import FLAVOURS, JITTER, alone
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Bar, Experiment, Figure

experiment = Experiment(
    title="Each flavour alone on a Wi-Fi-like link: rate and queue",
    claim="Delay based flavours such as Vegas and Nice introduce the lowest additional queueing delay. TCP-LP, though "
    "delay based, is less effective in limiting queueing delay.",
    differs="Rates and queues are means over 30 s, beside the curves. The paper's link was a real one.",
    sweep={"protocol": FLAVOURS, "link": ("wifi",)},
    scenario=lambda protocol, link, seed: alone(protocol, link, seed),
    figures=[
        Figure("first", "queue", "protocol", "rate, Mbit/s", "queue, bytes", False, True),
    ],
    timelines=[course for name in FLAVOURS for course in over_time.courses({"protocol": name}, 0.5)],
    seeds=2,
    quick={"protocol": ("netnice",)},
    pinned={"first": 0.05, "queue": 0.10},
    bars=[
        Bar(f"{delay} queues less than {loss}", "queue", {"protocol": delay}, {"protocol": loss}, maximum=0.9)
        for delay in ("vegas-1-3", "netnice", "nnledbatpp") for loss in ("cubic", "reno", "lp")
    ] + [
        Bar(f"{level} uses what Nice does", "first", {"protocol": level}, {"protocol": "netnice"}, minimum=0.8,
            holds=level == "netnice1", reason=JITTER)
        for level in ("netnice1", "netnice2")
    ],
)  # fmt: skip
