# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's testbed, research report 474, section 0.4.1: the network, its runs' numbers, what is drawn of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
SETTLES = 35.0
"""Seconds after which a flow alone counts as settled as background."""
SOON = 5.0
"""Seconds after which a flow that is let go has its share again."""
DISTURBED = 10.0
"""Seconds after the switch back in which turbulence would show."""


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


def seconds(flow: pd.DataFrame, numbers: Sequence[int], begin: float, end: float) -> np.ndarray:
    """Mbit/s of some flows together, second by second."""
    return np.diff(over_time.acknowledged(flow, numbers, np.arange(begin, end + 0.5))) * 8e-6


def steady(flow: pd.DataFrame, groups: Groups, end: float = END) -> dict[str, float]:
    """The foreground before, beside and after the background, and what the background makes of the rest."""
    ours, other = groups["background"][0], groups["foreground"][0]
    stop = end - AFTER

    def rtt(begin: float, end: float) -> float:
        rows = flow[(flow.id == other) & (flow.us > begin * 1e6) & (flow.us < end * 1e6)]
        return float(rows.rtt_us.mean())

    before, beside = goodput(flow, other, 5, START), goodput(flow, other, START, stop)
    calm, moved = (seconds(flow, [other], *when).std() for when in ((5, START), (START + 3, stop)))
    times = {"before": rtt(5, START), "beside": rtt(START + 1, stop), "after": rtt(stop + 1, end)}
    return {
        "foreground_kept": beside / before,
        "foreground_again": goodput(flow, other, START + 3, stop) / before,
        "foreground_after": goodput(flow, other, stop, end - 1) / before,
        "lost_at_first": before - goodput(flow, other, START, START + 3),
        "oscillation": float(moved - calm),
        "use": goodput(flow, ours, START, stop) / (CAPACITY - beside),
        "rtt_added": times["beside"] / times["before"] - 1,
    } | {f"rtt_{when}": mean / 1e3 for when, mean in times.items()}


def turbulence(flow: pd.DataFrame, numbers: Sequence[int], of: int) -> dict[str, float]:
    """The first seconds after the switch back beside the others: what flows have together, and one's largest RTT."""
    then = STOP + DISTURBED
    first, later = (seconds(flow, numbers, *when).min() for when in ((STOP, then), (then, END - 1)))
    rows = flow[(flow.id == of) & (flow.rtt_us > 0)]
    longest = rows[rows.us.between(STOP * 1e6, then * 1e6)].rtt_us.max() / rows[rows.us > then * 1e6].rtt_us.max()
    return {"turbulence_goodput": float(first / later), "turbulence_rtt": float(longest)}


def beside_switched(flow: pd.DataFrame, receiver: pd.DataFrame, groups: Groups) -> dict[str, float]:
    """Figures 13 and 14: each flow's share around the switches, and the first's window as a part of the estimate."""
    ours, other = groups["background"][0], groups["foreground"][0]
    wanted = LIMITED / 1e6

    def part(begin: float, end: float) -> float:
        mine = goodput(flow, ours, begin, end)
        return mine / (mine + goodput(flow, other, begin, end))

    before, after = receiver[receiver.window == 0], receiver[receiver.window > 0]
    before = before[before.us < STOP * 1e6]
    taken = {"taken": float(after.window.iloc[0] / before.estimate.iloc[-1])} if len(before) and len(after) else {}
    return (
        {
            "foreground_got": goodput(flow, other, START, STOP) / wanted,
            "foreground_soon": goodput(flow, other, START + 1, START + 4) / wanted,
            "use": goodput(flow, ours, START, STOP) / (CAPACITY - wanted),
            "first_second": goodput(flow, ours, START, START + 1),
            "share_before": part(5, START),
            "share_after": part(STOP + SOON, END - 1),
        }
        | turbulence(flow, [ours, other], other)
        | taken
    )


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


def found(flow: pd.DataFrame, number: int, begin: float, end: float, least: float = 0.8 * CAPACITY) -> float:
    """Seconds until a flow has had `least` Mbit/s for half a second; at most until `end`."""
    for at in np.arange(begin + 0.5, end, 0.1):
        if goodput(flow, number, at - 0.5, at) >= least:
            return float(at - begin)
    return end - begin


def back(flow: pd.DataFrame, number: int, begin: float, end: float) -> float:
    """Seconds after which a flow has 80 % of the capacity in every second until `end`; 0: it never had less."""
    less = np.flatnonzero(seconds(flow, [number], begin, end) < 0.8 * CAPACITY)
    return float(less[-1] + 1) if len(less) else 0.0


def grown(receiver: pd.DataFrame) -> np.ndarray:
    """When the advertised window was more than at the sample before, seconds."""
    return receiver.us.to_numpy()[1:][np.diff(receiver.window) > 0] / 1e6


def noticed(times: np.ndarray, begin: float, end: float) -> float:
    """Seconds until the first of some times; at most until `end`."""
    later = times[(times > begin) & (times < end)]
    return float(later[0] if len(later) else end) - begin


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
        return beside_switched(*both) | estimate(*both) | self.granted(sampled)

    def granted(self, sampled: Sampled) -> dict[str, float]:
        """The kernel's window as the sender knows it before the switch, as a part of its congestion window."""
        ours = sampled.groups["background"][0]
        both = sampled.granted.merge(sampled.flow, on=["us", "id"])
        both = both[(both.id == ours) & both.us.between(10e6, START * 1e6)]
        return {"granted": float((both.bytes / 1448 / (both.window / 65536)).median())} if len(both) else {}


@dataclass(frozen=True)
class Alone:
    """A flow that is switched and has the path to itself."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """The whole of the background's time, the part after it has settled, and the time after it."""
        flow, ours = sampled.flow, sampled.groups["background"][0]
        times = ((START, STOP), (10, START), (START + SETTLES, STOP), (STOP, END - 1))
        use, before, settled, after = (goodput(flow, ours, *when) / CAPACITY for when in times)
        return (
            {
                "use": use,
                "use_settled": settled,
                "use_before": before,
                "kept": use / before,
                "kept_after": after / settled,
                "back": back(flow, ours, START, START + SETTLES),
            }
            | turbulence(flow, [ours], ours)
            | estimate(flow, sampled.receiver, sampled.groups)
        )


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
    """A foreground that sends for `period` seconds and is silent for as many; it sets `freed` Mbit/s free."""

    period: int
    freed: float = CAPACITY

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """Table 1's columns; the first periods are left out."""
        flow, period = sampled.flow, self.period
        other, ours = sampled.groups["foreground"][0], sampled.groups.get("background")
        starts = [5 + 2 * period * i for i in range(1 if period >= 10 else 2, int((sampled.end - 4) / (2 * period)))]
        on = np.mean([goodput(flow, other, t, t + period) for t in starts])
        first = np.mean([goodput(flow, other, t, t + 1) for t in starts])
        result = {"foreground_on": float(on), "foreground_first_second": float(first)}
        if not ours:  # an ideal one would have all of the off periods
            result["filled"] = float(on + CAPACITY) / 2 / CAPACITY
        else:
            mine = np.mean([goodput(flow, ours[0], t, t + period) for t in starts])
            free = np.mean([goodput(flow, ours[0], t + period, t + 2 * period) for t in starts])
            finds = np.mean([self.finds(flow, ours[0], t + period) for t in starts])
            result |= {"use": float(free / CAPACITY), "share": float(mine / (mine + on)), "found": float(finds)}
            result["filled"] = float((on + mine + free) / 2 / CAPACITY)
            result["first_second"] = float(np.mean([goodput(flow, ours[0], t, t + 1) for t in starts]))
            if len(sampled.receiver):
                times = grown(sampled.receiver)
                result["noticed"] = float(np.mean([noticed(times, t + period, t + 2 * period) for t in starts]))
        return result

    def finds(self, flow: pd.DataFrame, number: int, stop: float) -> float:
        """Seconds until a flow has 80 % of what was set free at `stop` besides what it had, or what was left to it."""
        left = max(CAPACITY - self.freed, 0.0)
        if left:
            left = min(left, goodput(flow, number, stop - 2, stop))
        return found(flow, number, stop, stop + self.period, left + 0.8 * self.freed)
