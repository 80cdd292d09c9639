# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figures 1 and 2 over time: ten seconds of each flavour in turn, five of pause."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.low_priority.access import HALVES, NICE, REPORTED, WIFI, bulk, scenario
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table, Timeline
from netnice_lab.model.output import Groups, Sampled
from netnice_lab.model.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

FIRST, TURN, PAUSE = 5.0, 10.0, 5.0
STARTS = 3.0
"""Seconds of a transfer that do not count: slow start."""
BEGINS = {name: FIRST + turn * (TURN + PAUSE) for turn, name in enumerate(REPORTED)}
ENDS = FIRST + len(REPORTED) * (TURN + PAUSE)
BACKGROUND = "background"
NONE = "none"


@dataclass(frozen=True)
class Turn:
    """What a flavour's transfer got: its rate, its share beside the background, its RTT."""

    protocol: str

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """From its third second to its end."""
        begin, end = BEGINS[self.protocol] + STARTS, BEGINS[self.protocol] + TURN
        numbers = sampled.groups[self.protocol]
        rate = over_time.goodput(sampled.flow, numbers, begin, end)
        both = rate + over_time.goodput(sampled.flow, sampled.groups.get(BACKGROUND, []), begin, end)
        return {
            "turn_rate": rate,
            "turn_share": rate / both if both else 0.0,
            "turn_rtt": over_time.latency(sampled.flow, numbers, begin, end),
        }


def turns(there: str, protocol: str, seed: int) -> Scenario:
    """One run for all flavours of a seed: `protocol` is only whose turn is measured."""
    traffic = [bulk("first", name, (at, at), group=name, stop=at + TURN) for name, at in BEGINS.items()]
    if there != NONE:
        traffic.append(bulk("second", there, (0.0, 0.5), group=BACKGROUND))
    return replace(scenario(WIFI, tuple(traffic), REPORTED, ENDS, FIRST, seed), measure=Turn(protocol))


def together(groups: Groups, samples: over_time.Samples) -> pd.DataFrame:
    """Mbit/s of each and of all, each second."""
    rates = over_time.rates(groups, samples)
    return rates.assign(together=rates.sum(axis=1))


def share(groups: Groups, samples: over_time.Samples) -> pd.DataFrame:
    """The background's part, each second."""
    import pandas as pd

    rates = over_time.rates(groups, samples)
    return pd.DataFrame({BACKGROUND: rates[BACKGROUND] / rates.sum(axis=1)})


def waits(groups: Groups, samples: over_time.Samples) -> pd.DataFrame:
    """The RTT of each in its turn, five times a second."""
    found = over_time.delays(groups, samples, every=0.2)
    for name, at in BEGINS.items():
        found[name] = found[name].where((found.index >= at) & (found.index < at + TURN))
    return found


def drawn(there: str) -> list[Timeline]:
    """The curves of one of the two figures."""
    cell = {"there": there}
    curves = [Timeline(cell, "Mbit/s", together), Timeline(cell, "smoothed RTT, ms", waits)]
    return curves if there == NONE else [*curves, Timeline(cell, f"{NICE}'s share", share)]


EXPERIMENTS = {
    "lbe-course": Experiment(
        title="Transfers of ten seconds of five flavours in turn on a Wi-Fi-like link, alone and beside NICE",
        claim="Delay based flavours such as Vegas and Nice introduce the lowest additional queueing delay. Nice "
        "shares equally the traffic with Vegas, but is otherwise lower priority than any other protocol.",
        differs="The RTT is the flow's own, sampled ten times a second: nothing pings.",
        sweep={"there": (NONE, NICE), "protocol": REPORTED},
        scenario=turns,
        figures=[
            Figure("protocol", "turn_rate", "there", "", "rate, Mbit/s"),
            Figure("protocol", "turn_share", "there", "", "part of what it and the background got"),
            Figure("protocol", "turn_rtt", "there", "", "smoothed RTT, ms"),
        ],
        timelines=[curve for there in (NONE, NICE) for curve in drawn(there)],
        seeds=10,
        quick={"there": (NICE,)},
        pinned={"turn_rate": 0.05, "turn_share": 0.05, "turn_rtt": 0.05},
        bars=[
            Bar(f"alone: {low} waits less than {loss}", "turn_rtt", {"there": NONE, "protocol": low},
                {"there": NONE, "protocol": loss}, maximum=0.9)
            for low in ("vegas-1-3", NICE) for loss in ("cubic", "reno", "lp")
        ] + [
            Bar(f"NICE is below {name}", "turn_share", {"there": NICE, "protocol": name}, minimum=0.75)
            for name in ("cubic", "reno", "lp")
        ] + [
            Bar("NICE shares equally with Vegas", "turn_share", {"there": NICE, "protocol": "vegas-1-3"},
                minimum=0.4, maximum=0.6, holds=False, reason=HALVES),
        ],
        tables=[Table("turns", ("protocol",), "there",
                      [Number("turn_rate", 1), Number("turn_share"), Number("turn_rtt", 0)])],
    ),
}  # fmt: skip
