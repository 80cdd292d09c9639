# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Why the kernel's TCP-LP does not yield: the report's footnote 7, by Linux 6.12's tcp_lp.c.

Its delay is the peer's TSval less the echo of our own, in ms. That holds the offset of the peer's clock, which Linux
draws at random for each connection (4.10 and later; `net.ipv4.tcp_timestamps` = 2: no offset).

* The mean is kept eightfold in 32 bits. From an offset of 2^29 on, in 7 of 8 connections, it overflows. It is then
  always below the smallest delay, and there is never an early indication.
* In the eighth, the first indication makes that delay the smallest and twice that delay the largest, offset and all. No
  queue exceeds 15 % of their distance.

So `lp` is NewReno. Before 4.10 two hosts' clocks differed by their uptimes: more than six days, 2^29 ms, did the same.
Without an offset one fault is left: the rate of the peer's clock, which `lp` estimates, may come out above 1,000 a
second. The peer's count is then multiplied by 0 (1000 / rate, of integers), and less our own count it makes the largest
delay one of weeks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.low_priority import access
from experiments.low_priority.access import NICE
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

LINK, NONE = "wifi", "none"
BESIDE = ("cubic", "reno", "vegas-1-3", NICE)
STAMPS = {"random": (), "plain": (("ipv4/tcp_timestamps", "2"),)}
"""Of the offset of a connection's timestamps: Linux's default, and none."""


def beside_or_alone(stamps: str, protocol: str, beside: str, seed: int) -> Scenario:
    """Beside another it is the second flow, as in lbe-fig3; alone the first, as in lbe-fig1."""
    made = access.alone(protocol, LINK, seed) if beside == NONE else access.pair(beside, protocol, LINK, seed)
    return replace(made, sysctls=(*made.sysctls, *STAMPS[stamps]))


def goodput(frame: pd.DataFrame) -> pd.DataFrame:
    """The runs with what `protocol` has, and its part of both goodputs, whichever flow it is."""
    both = frame.reindex(columns=list(dict.fromkeys([*frame, "first", "second", "first_share"])))
    return both.assign(goodput=both.second.fillna(both["first"]), part=1 - both.first_share)


def at(stamps: str, protocol: str, beside: str) -> Cell:
    """A cell."""
    return {"stamps": stamps, "protocol": protocol, "beside": beside}


EXPERIMENTS = {
    "lbe-lp": Experiment(
        title="The kernel's TCP-LP and NewReno on a Wi-Fi-like link, with random and without timestamp offsets",
        claim="The root causes of TCP-LP's aggressiveness need further research; spurious TimeStamps may be tied to "
        "it.",
        differs="The report's kernels had no random offsets: there the two hosts' clocks differed by their uptimes.",
        sweep={"stamps": tuple(STAMPS), "protocol": ("reno", "lp"), "beside": (NONE, *BESIDE)},
        scenario=beside_or_alone,
        figures=[
            Figure("beside", "goodput", "protocol", "beside", "goodput, Mbit/s", panel="stamps"),
            Figure("beside", "part", "protocol", "beside", "part of both goodputs", panel="stamps"),
        ],
        derive=goodput,
        seeds=20,
        quick={"protocol": ("lp",), "beside": ("reno",)},
        pinned={"first_share": 0.05, "wins": 0.10},
        bars=[
            Bar("NewReno does not mind the offset", "first", at("plain", "reno", NONE), at("random", "reno", NONE),
                minimum=0.98, maximum=1.02),
            Bar("random offset: alone, lp queues what NewReno queues", "queue", at("random", "lp", NONE),
                at("random", "reno", NONE), minimum=0.97, maximum=1.03),
            *(Bar(f"random offset: beside {other}, lp has what NewReno has", "second", at("random", "lp", other),
                  at("random", "reno", other), minimum=0.95, maximum=1.05) for other in BESIDE),
            Bar("no offset: alone, lp queues less than NewReno", "queue", at("plain", "lp", NONE),
                at("plain", "reno", NONE), maximum=0.9),
            *(Bar(f"no offset: beside {other}, lp has less than NewReno has", "second", at("plain", "lp", other),
                  at("plain", "reno", other), maximum=0.75) for other in BESIDE),
            *(Bar(f"no offset: lp is below {best} in most runs", "wins", at("plain", "lp", best), minimum=0.75)
              for best in ("cubic", "reno")),
        ],
        tables=[Table("stamps", ("protocol", "beside"), "stamps",
                      [Number("goodput"), Number("part"), Number("queue", 0)])],
    ),
}  # fmt: skip
