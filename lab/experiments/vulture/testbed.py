# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's testbed, research report 474, section 0.4.1: the network, its runs' numbers, what is drawn of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Timeline, Value
from netnice_lab.model.output import Groups, Sampled
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk

if TYPE_CHECKING:
    import pandas as pd

RATE, RTT, BUFFER = 10_000_000, 100_000, 86
JITTER = 250
"""Microseconds by which arrivals are early or late: the paper's machines were real. Chosen by its figure 9."""
CAPACITY = 9.564
"""Mbit/s of payload that a 10 Mbit/s link carries: 1448 of 1514 bytes."""
START, STOP, END = 45.0, 135.0, 180.0
"""The paper's 3 minutes: background for the middle 90 seconds."""
AFTER = END - STOP
LIMITED = 6_000_000
STAGGER = 20.0


def testbed(jitter: int = JITTER) -> Topology:
    """10 Mbit/s, 100 ms, 86 packets; the way back is as slow, with a long queue. `jitter` in microseconds."""
    forward = Pipe(RATE, Queue("fifo", packets=BUFFER), jitter=jitter)
    back = Pipe(RATE, Queue("fifo", packets=1000))
    return Topology(
        hosts=("server", "home"),
        routers=("router",),
        links=(Link("server", "router", back=Pipe(delay=RTT)), Link("router", "home", forward=forward, back=back)),
    )


def background(congestion_control: str, start: float = 0.0, stop: float = 0.0) -> Bulk:
    """One flow whose receiver yields."""
    starts = (start, start + 0.1)
    return Bulk("server", "home", 1, congestion_control, starts, stop, receiver=True, group="background")


REVERSE = Bulk("home", "server", 1, "cubic", start=(0.0, 0.1), rate=LIMITED, group="reverse")
STEADY = Bulk("server", "home", 1, "cubic", start=(0.0, 0.1), rate=LIMITED, group="foreground")
LONGEST = 30
"""Seconds on and off of figure 18's ideal."""


def goodput(flow: pd.DataFrame, number: int, begin: float, end: float) -> float:
    """Mbit/s acknowledged of a flow between two times in seconds."""
    return over_time.goodput(flow, [number], begin, end)


def windows(groups: Groups, samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figures 11 to 13: the sender's congestion window, the receiver's estimate of it, the window it advertises."""
    flow, receiver = samples["flow"], samples["receiver"].set_index("us")
    sender = flow[flow.id == groups["background"][0]].set_index("us").window / 65536
    segments = receiver[["estimate", "window"]] / 1448
    lines = segments.join(sender.rename("cwnd"), how="inner").rename(columns={"window": "rwnd"})
    lines["rwnd"] = lines.rwnd.where(lines.rwnd > 0)  # foreground time: the kernel's own
    return lines.set_index(lines.index / 1e6)


def goodputs(groups: Groups, samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figures 9, 14 and 18: Mbit/s of each group, second by second."""
    import pandas as pd

    flow = samples["flow"]
    times = np.arange(0.0, flow.us.max() / 1e6)
    lines = {
        group: [goodput(flow, numbers[0], at, at + 1) for at in times]
        for group, numbers in groups.items()
        if group != "reverse"
    }
    return pd.DataFrame(lines, index=times)


def beside_ideal(groups: Groups, samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figure 18: both flows, and the ideal background: all while the foreground is off, else nothing."""
    lines = goodputs(groups, samples)
    phase = (lines.index.to_numpy() - 5.0) // LONGEST
    return lines.assign(ideal=np.where(phase % 2 == 1, CAPACITY, 0.0))


def round_trips(groups: Groups, samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figure 16: the foreground's smoothed RTT in ms, mean of every second."""
    flow = samples["flow"]
    rows = flow[(flow.id == groups["foreground"][0]) & (flow.rtt_us > 0)]
    return (rows.groupby(rows.us // 1_000_000).rtt_us.mean() / 1e3).to_frame("foreground")


def course(cell: Mapping[str, Value]) -> Timeline:
    """Goodputs against time."""
    return Timeline(cell, "Mbit/s", goodputs)


def steady(flow: pd.DataFrame, groups: Groups, end: float = END) -> dict[str, float]:
    """The foreground before and beside the background, and what the background makes of the rest."""
    ours, theirs = groups["background"][0], groups["foreground"][0]
    stop = end - AFTER

    def rtt(begin: float, end: float) -> float:
        rows = flow[(flow.id == theirs) & (flow.us > begin * 1e6) & (flow.us < end * 1e6)]
        return float(rows.rtt_us.mean())

    before, beside = goodput(flow, theirs, 5, START), goodput(flow, theirs, START, stop)
    times = {"before": rtt(5, START), "beside": rtt(START + 1, stop), "after": rtt(stop + 1, end)}
    return {
        "foreground_kept": beside / before,
        "use": goodput(flow, ours, START, stop) / (CAPACITY - beside),
        "rtt_added": times["beside"] / times["before"] - 1,
    } | {f"rtt_{when}": mean / 1e3 for when, mean in times.items()}


def beside_switched(flow: pd.DataFrame, receiver: pd.DataFrame, groups: Groups) -> dict[str, float]:
    """Figures 13 and 14: who gets what after the switch, and the window at the switch as a part of the estimate."""
    ours, theirs = groups["background"][0], groups["foreground"][0]
    wanted = LIMITED / 1e6
    before, after = receiver[receiver.window == 0], receiver[receiver.window > 0]
    before = before[before.us < STOP * 1e6]
    taken = {"taken": float(after.window.iloc[0] / before.estimate.iloc[-1])} if len(before) and len(after) else {}
    return {
        "foreground_got": goodput(flow, theirs, START, STOP) / wanted,
        "use": goodput(flow, ours, START, STOP) / (CAPACITY - wanted),
    } | taken


def estimate(flow: pd.DataFrame, receiver: pd.DataFrame, groups: Groups) -> dict[str, float]:
    """What the receiver believes the sender's window to be, as a part of it, and how often it is within a tenth of it.

    Without a limit by the receiver it is the congestion window, with one the advertised window.
    """
    both = windows(groups, {"flow": flow, "receiver": receiver})
    free = both[(both.index > 5) & (both.index < START)]
    held = both[(both.index > START + 1) & (both.index < STOP) & (both.rwnd < both.cwnd)]
    result: dict[str, float] = {}
    if len(free):
        part = free.estimate / free.cwnd
        result |= {"estimate": float(part.median()), "estimate_follows": float((abs(part - 1) < 0.1).mean())}
    if len(held):
        result |= {"estimate_held": float((held.estimate / held.rwnd).median())}
    return result


def found(flow: pd.DataFrame, number: int, begin: float, end: float) -> float:
    """Seconds until a flow has had 80 % of the capacity for half a second; at most until `end`."""
    for at in np.arange(begin + 0.5, end, 0.1):
        if goodput(flow, number, at - 0.5, at) >= 0.8 * CAPACITY:
            return float(at - begin)
    return end - begin


def a_round(flow: pd.DataFrame, groups: Groups, end: float) -> dict[str, float]:
    """Segments that the background gets in a round trip of its own, in the second half: what its window is."""
    ours = groups.get("background")
    if not ours:
        return {}
    rows = flow[(flow.id == ours[0]) & (flow.us > end / 2 * 1e6) & (flow.rtt_us > 0)]
    return {"a_round": goodput(flow, ours[0], end / 2, end) / 8 * float(rows.rtt_us.mean()) / 1448}


@dataclass(frozen=True)
class Steady:
    """A foreground of a steady rate."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Before, beside and after the background."""
        groups = sampled.groups
        return steady(sampled.flow, groups, sampled.end) | estimate(sampled.flow, sampled.receiver, groups)


@dataclass(frozen=True)
class Switched:
    """A flow that is switched beside a steady foreground."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """After the switch."""
        both = sampled.flow, sampled.receiver, sampled.groups
        return beside_switched(*both) | estimate(*both)


@dataclass(frozen=True)
class Alone:
    """A flow that is switched and has the path to itself."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """The whole of the background's time, and the part after it has settled."""
        flow, ours = sampled.flow, sampled.groups["background"][0]
        use, before = (goodput(flow, ours, *when) / CAPACITY for when in ((START, STOP), (10, START)))
        return {
            "use": use,
            "use_settled": goodput(flow, ours, START + 35, STOP) / CAPACITY,
            "use_before": before,
            "kept": use / before,
        } | estimate(flow, sampled.receiver, sampled.groups)


@dataclass(frozen=True)
class Rerouted:
    """A route that becomes longer."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """How soon a flow whose way has changed uses it again, and how well from 30 s on."""
        flow, ours = sampled.flow, sampled.groups["background"][0]
        return {"found": found(flow, ours, START, STOP), "use": goodput(flow, ours, START + 30, STOP) / CAPACITY}


@dataclass(frozen=True)
class Joined:
    """A stranger that joins."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """What the stranger gets from 5 s after it came, and what the background still takes."""
        flow, groups, begin = sampled.flow, sampled.groups, START + 5
        taken = {f"{group}_got": goodput(flow, numbers[0], begin, STOP) for group, numbers in groups.items()}
        stranger = flow[flow.id.isin(groups.get("foreground", ())) & (flow.us > begin * 1e6)]
        return taken | ({"rtt_beside": float(stranger.rtt_us.mean()) / 1e3} if len(stranger) else {})


@dataclass(frozen=True)
class Floor:
    """The least window."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Segments a round trip."""
        return a_round(sampled.flow, sampled.groups, sampled.end)


@dataclass(frozen=True)
class OnOff:
    """A foreground that sends for `period` seconds and is silent for as many."""

    period: int

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Table 1's columns; the first periods are left out."""
        flow, period = sampled.flow, self.period
        theirs, ours = sampled.groups["foreground"][0], sampled.groups.get("background")
        starts = [5 + 2 * period * i for i in range(1 if period >= 10 else 2, int((sampled.end - 4) / (2 * period)))]
        on = np.mean([goodput(flow, theirs, t, t + period) for t in starts])
        result = {"foreground_on": float(on)}
        if ours:
            mine = np.mean([goodput(flow, ours[0], t, t + period) for t in starts])
            free = np.mean([goodput(flow, ours[0], t + period, t + 2 * period) for t in starts])
            finds = np.mean([found(flow, ours[0], t + period, t + 2 * period) for t in starts])
            result |= {"use": float(free / CAPACITY), "share": float(mine / (mine + on)), "found": float(finds)}
            result["filled"] = float((on + mine + free) / 2 / CAPACITY)
        return result
