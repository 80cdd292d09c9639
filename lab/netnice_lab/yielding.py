# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's testbed (research report 474, section 0.4.1), its experiments, and the numbers its tables have."""

import numpy as np
import pandas as pd

from netnice_lab.receiver import Receiver
from netnice_lab.scenario import Scenario
from netnice_lab.topology import Link, Pipe, Queue, Topology
from netnice_lab.traffic import Bulk

RATE, RTT, BUFFER = 10_000_000, 100_000, 86
CAPACITY = 9.564
"""Mbit/s of payload that a 10 Mbit/s link carries: 1448 of 1514 bytes."""
START, STOP, END = 45.0, 135.0, 180.0
"""The paper's 3 minutes: background for the middle 90 seconds."""
LIMITED = 6_000_000
STAGGER = 20.0
PINNED = {"use": 0.05, "share": 0.10, "rtt_added": 0.15, "fairness": 0.03, "estimate": 0.05}
DIFFERS = (
    "The propagation delay lies on the way of the ACKs; the paper's 9.41 Mbit/s of goodput are 9.56 here (no preamble "
    "on a virtual wire); Linux 6.12 instead of 4.12; one run a seed instead of ten."
)


def testbed() -> Topology:
    """10 Mbit/s, 100 ms, 86 packets; the way back is as slow, with a long queue."""
    forward, back = Pipe(RATE, Queue("fifo", packets=BUFFER)), Pipe(RATE, Queue("fifo", packets=1000))
    return Topology(
        hosts=("server", "home"),
        routers=("router",),
        links=(Link("server", "router", back=Pipe(delay=RTT)), Link("router", "home", forward=forward, back=back)),
    )


def background(congestion_control: str, start: float = 0.0, stop: float = 0.0) -> Bulk:
    """One flow whose receiver yields."""
    return Bulk(
        "server",
        "home",
        1,
        congestion_control,
        start=(start, start + 0.1),
        stop=stop,
        receiver=True,
        group="background",
    )


REVERSE = Bulk("home", "server", 1, "cubic", start=(0.0, 0.1), rate=LIMITED, group="reverse")
STEADY = Bulk("server", "home", 1, "cubic", start=(0.0, 0.1), rate=LIMITED, group="foreground")


def beside_steady(receiver: str, sender: str = "cubic", seed: int = 1) -> Scenario:
    """Figures 15 and 16: a foreground of 6 Mbit/s; the background from 45 to 135 s."""
    traffic = (STEADY, REVERSE, background(sender, START, STOP))
    return Scenario(testbed(), traffic, END, 0.001, seed, receiver=Receiver(receiver), sample=0.1, measure="steady")


def switched(receiver: str, sender: str = "cubic", seed: int = 1, beside: bool = False) -> Scenario:
    """Figures 11 to 14 and 17: one flow, background only from 45 to 135 s of its life."""
    traffic = ((STEADY, REVERSE) if beside else ()) + (background(sender),)
    chosen = Receiver(receiver, start=START, stop=STOP)
    return Scenario(
        testbed(), traffic, END, 0.001, seed, receiver=chosen, sample=0.1, measure="steady" if beside else "alone"
    )


def on_off(receiver: str, period: int, sender: str = "cubic", seed: int = 1) -> Scenario:
    """Figures 9, 18 and 19, table 1: a foreground that sends for `period` seconds and is silent for as many."""
    pulsing = Bulk("server", "home", 1, "cubic", start=(5.0, 5.001), on=period, off=period, group="foreground")
    duration = 5.0 + max(180, 6 * period) // (2 * period) * 2 * period
    traffic: tuple[Bulk, ...] = (pulsing, REVERSE, background(sender))
    if receiver == "absent":
        traffic = (pulsing, REVERSE)
    return Scenario(
        testbed(), traffic, duration, 0.001, seed,
        receiver=Receiver("none" if receiver == "absent" else receiver), sample=min(0.1, period / 10),
        measure=f"on-off {period}",
    )  # fmt: skip


def fairness(receiver: str, flows: int, seed: int = 1) -> Scenario:
    """Figure 20, table 2: background flows only, one every 20 seconds, then three minutes."""
    traffic = tuple(background("cubic", STAGGER * i) for i in range(flows))
    begin = STAGGER * flows
    return Scenario(testbed(), traffic, begin + END, begin, seed, receiver=Receiver(receiver), measure="fairness")


def goodput(flow: pd.DataFrame, number: int, begin: float, end: float) -> float:
    """Mbit/s acknowledged of a flow between two times in seconds."""
    rows = flow[flow.id == number]
    begun, ended = np.interp([begin, end], rows.us / 1e6, rows.acked, left=0)
    return float((ended - begun) * 8e-6 / (end - begin))


def steady(flow: pd.DataFrame, groups: dict[str, list[int]]) -> dict[str, float]:
    """The foreground before and beside the background, and what the background makes of the rest."""
    ours, theirs = groups["background"][0], groups["foreground"][0]

    def rtt(begin: float, end: float) -> float:
        rows = flow[(flow.id == theirs) & (flow.us > begin * 1e6) & (flow.us < end * 1e6)]
        return float(rows.rtt_us.mean())

    before, beside = goodput(flow, theirs, 5, START), goodput(flow, theirs, START, STOP)
    return {
        "foreground_kept": beside / before,
        "use": goodput(flow, ours, START, STOP) / (CAPACITY - beside),
        "rtt_added": rtt(START + 1, STOP) / rtt(5, START) - 1,
    }


def alone(flow: pd.DataFrame, groups: dict[str, list[int]]) -> dict[str, float]:
    """The whole of the background's time, and the part after it has settled."""
    ours = groups["background"][0]
    return {
        "use": goodput(flow, ours, START, STOP) / CAPACITY,
        "use_settled": goodput(flow, ours, START + 35, STOP) / CAPACITY,
        "use_before": goodput(flow, ours, 10, START) / CAPACITY,
    }


def estimate(flow: pd.DataFrame, receiver: pd.DataFrame, groups: dict[str, list[int]]) -> dict[str, float]:
    """What the receiver believes the sender's window to be, as a part of it, in foreground time without loss."""
    ours = flow[(flow.id == groups["background"][0])].set_index("us")
    both = receiver.set_index("us").join(ours, how="inner", rsuffix="_sender")
    both = both[(both.index > 5e6) & (both.index < START * 1e6)]
    window = both.window_sender / 65536 * 1448
    return {"estimate": float((both.estimate / window).median())} if len(both) else {}


def periods(flow: pd.DataFrame, groups: dict[str, list[int]], period: int, end: float) -> dict[str, float]:
    """Table 1's columns; the first periods are left out."""
    theirs, ours = groups["foreground"][0], groups.get("background")
    starts = [5 + 2 * period * i for i in range(1 if period >= 10 else 2, int((end - 4) / (2 * period)))]
    on = np.mean([goodput(flow, theirs, t, t + period) for t in starts])
    result = {"foreground_on": float(on)}
    if ours:
        mine = np.mean([goodput(flow, ours[0], t, t + period) for t in starts])
        free = np.mean([goodput(flow, ours[0], t + period, t + 2 * period) for t in starts])
        result |= {"use": float(free / CAPACITY), "share": float(mine / (mine + on))}
    return result


def metrics(
    measure: str, groups: dict[str, list[int]], end: float, samples: dict[str, pd.DataFrame]
) -> dict[str, float]:
    """The numbers of a run by the name of its measurement."""
    flow = samples["flow"]
    if measure == "steady":
        return steady(flow, groups) | estimate(flow, samples["receiver"], groups)
    if measure == "alone":
        return alone(flow, groups) | estimate(flow, samples["receiver"], groups)
    if measure.startswith("on-off"):
        return periods(flow, groups, int(measure.split()[1]), end)
    return {}
