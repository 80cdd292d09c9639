# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's testbed (research report 474, section 0.4.1) and its experiments; yielded.py has their numbers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from netnice_lab import over_time
from netnice_lab.experiment import Bar, Experiment, Figure, Timeline, Value
from netnice_lab.protocols import protocol
from netnice_lab.receiver import Receiver
from netnice_lab.scenario import Scenario
from netnice_lab.topology import Link, Pipe, Queue, Topology
from netnice_lab.traffic import Bulk, Change, Datagrams, Traffic

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
LONGEST = 30
"""Seconds on and off of figure 18's ideal."""
USE = {1: 0.16, 3: 0.60, 5: 0.75, 10: 0.85, 30: 0.92}
SHARE = {1: 0.10, 3: 0.06, 5: 0.05, 10: 0.04, 30: 0.03}
"""Of the off and the on periods, at least and at most, by their length in seconds: the bars of table 1."""
LATE = (
    "acknowledged in the on period are also the window that came just before it and the one granted just before it: "
    "160 segments of 82 each, which alone are .07 at 3 s and .04 at 5"
)
SHORT = (
    "its bars exclude each other: to use .16 takes windows of which two, granted before, are more than .10 of a second"
)
PINNED = {
    "use": 0.05,
    "share": 0.10,
    "found": 0.10,
    "filled": 0.03,
    "foreground_got": 0.02,
    "rtt_added": 0.15,
    "rtt_before": 0.02,
    "rtt_beside": 0.02,
    "rtt_after": 0.02,
    "taken": 0.02,
    "estimate": 0.05,
    "estimate_follows": 0.05,
    "background_fairness": 0.02,
    "background": 0.05,
    "background_got": 0.10,
}
"""How far a pinned number may move, as a part of it."""
REPRODUCED = 0.10
"""How far from the paper's number the faithful core may be."""
FAITHFUL = "vulture_jiffies"
RECEIVERS = ("tide", FAITHFUL, "vulture", "rledbat")
BESIDE: Mapping[str, Sequence[Value]] = {"receiver": RECEIVERS, "sender": ("cubic",)}
RUNS = 10
"""Of the faithful core a number, as in the paper: it is chaotic, and one run may be a lucky one."""
NOISE = (
    "{seeds} runs have {mean} ± {half}; its mode is the sign of a noisy sum and hangs on a jitter that the report does "
    "not state (vulture-jitter, and the head of the core)"
)
DIFFERS = (
    "The propagation delay lies on the way of the ACKs; the paper's 9.41 Mbit/s of goodput are 9.56 here (no preamble "
    "on a virtual wire); arrivals are up to 0.25 ms early or late; Linux 6.12 instead of 4.12; ten runs, as there, of "
    "the faithful core only, one of each other."
)


def faithful(
    says: str, metric: str, paper: float, cell: Mapping[str, Value], holds: bool = True, reason: str = ""
) -> Bar:
    """The paper's number, held against the faithful core."""
    return Bar(
        f"faithful, {says}: the paper's {paper:g}",
        metric,
        {"receiver": FAITHFUL, **cell},
        minimum=paper * (1 - REPRODUCED),
        maximum=paper * (1 + REPRODUCED),
        holds=holds,
        reason=reason,
    )


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


def beside_steady(
    receiver: str, sender: str = "cubic", seed: int = 1, lasting: float = END, drift: int = 0
) -> Scenario:
    """Figures 15 and 16: a foreground of 6 Mbit/s; the background from 45 s on, until 45 s before the end."""
    traffic = (STEADY, REVERSE, background(sender, START, lasting - AFTER))
    running = Receiver(receiver, values=drifting(drift))
    return Scenario(testbed(), traffic, lasting, 0.001, seed, receiver=running, sample=0.1, measure="steady")


def switched(receiver: str, sender: str = "cubic", seed: int = 1, beside: bool = False) -> Scenario:
    """Figures 11 to 14 and 17: one flow, background only from 45 to 135 s of its life."""
    traffic = ((STEADY, REVERSE) if beside else ()) + (background(sender),)
    chosen = Receiver(receiver, start=START, stop=STOP)
    return Scenario(
        testbed(), traffic, END, 0.001, seed, receiver=chosen, sample=0.1, measure="switched" if beside else "alone"
    )


switched_beside = partial(switched, beside=True)
"""Figures 13 and 14: the flow that is switched is beside the foreground of 6 Mbit/s."""


def drifting(parts: int) -> tuple[tuple[str, int], ...]:
    """The receiver's clock runs fast by so many parts per million, so that every queue seems to grow."""
    return (("skew", parts),) if parts else ()


def on_off(
    receiver: str,
    period: int,
    sender: str = "cubic",
    seed: int = 1,
    jitter: int = JITTER,
    lasting: int = 180,
    drift: int = 0,
) -> Scenario:
    """Figures 9, 18 and 19, table 1: a foreground that sends for `period` seconds and is silent for as many."""
    pulsing = Bulk("server", "home", 1, "cubic", start=(5.0, 5.001), on=period, off=period, group="foreground")
    duration = 5.0 + max(lasting, 6 * period) // (2 * period) * 2 * period
    traffic: tuple[Bulk, ...] = (pulsing, REVERSE, background(sender))
    if receiver == "absent":
        traffic = (pulsing, REVERSE)
    return Scenario(
        testbed(jitter), traffic, duration, 0.001, seed,
        receiver=Receiver("none" if receiver == "absent" else receiver, values=drifting(drift)),
        sample=min(0.1, period / 10),
        measure=f"on-off {period}",
    )  # fmt: skip


def fairness(receiver: str, flows: int, seed: int = 1) -> Scenario:
    """Figure 20, table 2: background flows only, one every 20 seconds, then three minutes."""
    traffic = tuple(background("cubic", STAGGER * i) for i in range(flows))
    begin = STAGGER * flows
    return Scenario(testbed(), traffic, begin + END, begin, seed, receiver=Receiver(receiver), measure="fairness")


def rerouted(receiver: str, longer: int, seed: int = 1) -> Scenario:
    """The background alone; from 45 to 135 s its data take `longer` microseconds more."""

    def way(at: float, us: int) -> Change:
        return Change(at, "home", f"qdisc change dev home-1-in root netem delay {us}us {JITTER}us limit 1000000")

    traffic = (background("cubic"), way(START, longer), way(STOP, 0))
    return Scenario(testbed(), traffic, END, 0.001, seed, receiver=Receiver(receiver), sample=0.1, measure="rerouted")


def joined(receiver: str, stranger: str, sender: str, seed: int = 1) -> Scenario:
    """The background, by `sender`; from 45 to 135 s beside it a stranger: a protocol, or `udp-` and its Mbit/s."""
    if stranger.startswith("udp-"):
        rate = int(float(stranger.removeprefix("udp-")) * 1e6)
        joins: Traffic = Datagrams("server", "home", rate, START, STOP)
        knobs: tuple[tuple[str, str], ...] = ()
    else:
        flavour = protocol(stranger)
        name, knobs = flavour.congestion_control, flavour.knobs
        joins = Bulk("server", "home", 1, name, start=(START, START), stop=STOP, group="foreground")
    traffic = (joins,) if receiver == "absent" else (joins, background(sender))
    running = Receiver("none" if receiver == "absent" else receiver)
    return Scenario(
        testbed(), traffic, STOP, 0.001, seed, knobs=knobs, receiver=running, sample=0.1, measure="joined"
    )  # fmt: skip


def report_figure(
    *,
    title: str,
    claim: str,
    figures: Sequence[Figure],
    pinned: Sequence[str],
    bars: Sequence[Bar],
    scenario: Callable[..., Scenario] = beside_steady,
    sweep: Mapping[str, Sequence[Value]] = BESIDE,
    timelines: Sequence[Timeline] = (),
    quick: Mapping[str, Sequence[Value]] | None = None,
    seeds: int = 1,
    more_seeds: Sequence[tuple[Mapping[str, Value], int]] = (),
    differs: str = "",
) -> Experiment:
    """A figure of the report; unless it says otherwise, beside the steady foreground.

    `pinned`: metrics, with the tolerances of PINNED. `differs`: what does so beyond all other figures.
    """
    return Experiment(
        title=title,
        claim=claim,
        differs=f"{DIFFERS} {differs}".rstrip(),
        sweep=sweep,
        scenario=scenario,
        figures=figures,
        timelines=timelines,
        seeds=seeds,
        more_seeds=[({"receiver": FAITHFUL}, RUNS), *more_seeds],
        quick=quick or {},
        pinned={metric: PINNED[metric] for metric in pinned},
        bars=bars,
    )


def goodput(flow: pd.DataFrame, number: int, begin: float, end: float) -> float:
    """Mbit/s acknowledged of a flow between two times in seconds."""
    return over_time.goodput(flow, [number], begin, end)


def windows(groups: dict[str, list[int]], samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figures 11 to 13: the sender's congestion window, the receiver's estimate of it, the window it advertises."""
    flow, receiver = samples["flow"], samples["receiver"].set_index("us")
    sender = flow[flow.id == groups["background"][0]].set_index("us").window / 65536
    segments = receiver[["estimate", "window"]] / 1448
    lines = segments.join(sender.rename("cwnd"), how="inner").rename(columns={"window": "rwnd"})
    lines["rwnd"] = lines.rwnd.where(lines.rwnd > 0)  # foreground time: the kernel's own
    return lines.set_index(lines.index / 1e6)


def goodputs(groups: dict[str, list[int]], samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figures 9, 14 and 18: Mbit/s of each group, second by second."""
    flow = samples["flow"]
    times = np.arange(0.0, flow.us.max() / 1e6)
    lines = {
        group: [goodput(flow, numbers[0], at, at + 1) for at in times]
        for group, numbers in groups.items()
        if group != "reverse"
    }
    return pd.DataFrame(lines, index=times)


def beside_ideal(groups: dict[str, list[int]], samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figure 18: both flows, and the ideal background: all while the foreground is off, else nothing."""
    lines = goodputs(groups, samples)
    phase = (lines.index.to_numpy() - 5.0) // LONGEST
    return lines.assign(ideal=np.where(phase % 2 == 1, CAPACITY, 0.0))


def round_trips(groups: dict[str, list[int]], samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figure 16: the foreground's smoothed RTT in ms, mean of every second."""
    flow = samples["flow"]
    rows = flow[(flow.id == groups["foreground"][0]) & (flow.rtt_us > 0)]
    return (rows.groupby(rows.us // 1_000_000).rtt_us.mean() / 1e3).to_frame("foreground")


def course(cell: Mapping[str, Value]) -> Timeline:
    """Goodputs against time."""
    return Timeline(cell, "Mbit/s", goodputs)


def estimates(figure: int, sender: str) -> Experiment:
    """Figures 11 and 12: one flow alone, background in the middle of its life, and the estimate of its window."""
    receivers = ("tide", FAITHFUL)
    return report_figure(
        title=f"Vulture, figure {figure}: the estimate of the window of a {sender} sender",
        claim="The cwnd estimates can keep up the change of the sender side cwnd although a little bit less than the "
        "real values; the algorithm actually estimates rwnd when the flow is running in LBE mode.",
        differs="The stamps tick in 1 ms instead of 4 ms, so that less of the window goes unseen.",
        sweep={"receiver": receivers, "sender": (sender,)},
        scenario=switched,
        figures=[
            Figure("receiver", "estimate", "sender", "receiver", "estimate, of the sender's window"),
            Figure("receiver", "estimate_held", "sender", "receiver", "estimate, of the advertised window"),
        ],
        timelines=[Timeline({"receiver": name}, "segments", windows) for name in receivers],
        pinned=("estimate", "estimate_follows"),
        bars=[
            Bar(f"{name}: {says}", metric, {"receiver": name}, minimum=least, maximum=most)
            for name in receivers
            for says, metric, least, most in (
                ("a little less than the window", "estimate", 0.90, 1.01),
                ("keeps up with it", "estimate_follows", 0.90, None),
                ("as background, what is advertised", "estimate_held", 0.90, 1.10),
            )
        ],
    )
