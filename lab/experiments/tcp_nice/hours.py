# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figure 8 of TCP Nice at other times: by the hour of the day (figure 9), and wherever in a download's sawtooth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.frontier import many_users
from experiments.low_priority.access import ROOMY
from experiments.tcp_nice.internet import ALONE, CORES, FOUND, GOLDEN, KEPT, PATHS, TOGETHER, parts
from netnice_lab.judgement import misses
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk, Documents, Traffic

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

LOADS = {0: 0.4, 4: 0.1, 8: 0.3, 12: 0.5, 16: 0.6, 20: 0.8}
"""Hour, and the part of the path's rate that others ask for."""
BEGIN, LASTS = 10.0, 10.0
"""Seconds after which an action begins, and that it takes."""


def hourly(path: str, hour: int, action: str, seed: int) -> Scenario:
    """One action of ten seconds; the others' documents of an hour are the same for every action."""
    chosen, (primary, secondary, count) = PATHS[path], parts(action)
    duration = BEGIN + LASTS
    rates = chosen.rates(duration, seed)[1]
    documents = many_users(LOADS[hour] * sum(rates) / len(rates), duration, 100 * seed + hour)
    traffic: tuple[Traffic, ...] = (Documents("others", "client", documents, "cubic", tos=0),)
    starts = (BEGIN, BEGIN + TOGETHER)
    traffic += (Bulk("server", "client", 1, primary, starts, group="primary"),)
    if count:
        traffic += (Bulk("server", "client", count, secondary, starts),)
    changes, knobs = chosen.changes(duration, seed)
    traffic += (*changes, *chosen.steps(duration, seed))
    made = Scenario(chosen.network(("others",)), traffic, duration, BEGIN, seed, sysctls=ROOMY)
    for name in dict.fromkeys((primary, secondary)):
        made = finish(made, protocol(name))
    return replace(made, knobs=knobs + made.knobs)


BESIDE = tuple(f"reno/{core}{count}" for core in CORES for count in ("", "8"))
ACTIONS = ("reno/null", "reno/reno", "reno/reno8", *BESIDE, *ALONE)
ON = ("cable", "london", "wifi")
WORST, MOST = 0.30, 0.80
"""Of Reno alone: what the paper's Nice finds in its worst hour, and in most hours, between London and Austin."""
MISSES["nice-fig9"] = misses.read(
    {
        "they begin with the transfer and take its queue for the path's own delay, as in nice-fig8; ten seconds are "
        "too short to learn better": """
            reno/nice: cable london
            reno/nice8: cable london wifi
            reno/netnice: cable london wifi
            reno/netnice8: cable london wifi
        """,
        misses.DRAWN: """
            nice/null at 20 h: cable
        """,
        "it gives way to the others' documents; Reno does not, they take it up to five times as long": """
            nice/null: cable london
            netnice/null: cable london
            nice/null at 0 h: london
            nice/null at 12 h: cable london
            nice/null at 16 h: london
            nice/null at 20 h: london
            netnice/null at 20 h: london
            nice/null has most of Reno at 0 h: london
            nice/null has most of Reno at 4 h: london
            nice/null has most of Reno at 8 h: london
            nice/null has most of Reno at 12 h: london
            nice/null has most of Reno at 16 h: london
            nice/null has most of Reno at 20 h: london
        """,
        "it gives way to the others' documents, and to jitter and a rate that falls": """
            nice/null: wifi
            netnice/null: wifi
            nice/null at 0 h: wifi
            nice/null at 4 h: wifi
            nice/null at 8 h: wifi
            nice/null at 12 h: wifi
            nice/null at 16 h: wifi
            nice/null at 20 h: wifi
        """,
        misses.EDGE: """
            netnice/null at 16 h: wifi
        """,
    }
)


def bars() -> list[Bar]:
    """Over the day, and hour by hour for what the background finds."""
    return [
        misses.bar(MISSES["nice-fig9"], f"{action} {path}", "primary", {"path": path, "action": action},
                   {"path": path, "action": "reno/null"}, minimum=minimum)
        for actions, minimum in ((BESIDE, KEPT), (ALONE, FOUND)) for action in actions for path in ON
    ] + [
        misses.bar(MISSES["nice-fig9"], f"{action} at {hour} h {path}", "primary",
                   {"path": path, "action": action, "hour": hour},
                   {"path": path, "action": "reno/null", "hour": hour}, minimum=WORST)
        for action in ALONE for path in ON for hour in LOADS
    ] + [
        misses.bar(MISSES["nice-fig9"], f"nice/null has most of Reno at {hour} h london", "primary",
                   {"path": "london", "action": "nice/null", "hour": hour},
                   {"path": "london", "action": "reno/null", "hour": hour}, minimum=MOST)
        for hour in LOADS
    ]  # fmt: skip


def parts_of_reno(frame: pd.DataFrame) -> pd.DataFrame:
    """The primary's throughput as a part of what Reno alone has at that hour with the same others."""
    import pandas as pd

    keys = ["path", "hour", "seed"]
    base = frame[frame.action == "reno/null"].set_index(keys).primary
    over = base.reindex(pd.MultiIndex.from_frame(frame[keys])).to_numpy()
    kinds = dict.fromkeys(BESIDE, "yielding") | dict.fromkeys(ALONE, "alone")
    return frame.assign(part=frame.primary / over, kind=frame.action.map(kinds).fillna("plain"))


EXPERIMENTS["nice-fig9"] = Experiment(
    title="The primary's throughput by the hour, while others use the path",
    claim="Nice can achieve useful amounts of throughput throughout the day.",
    differs="Other people's documents (CUBIC, 16 kB on average) take 10 to 80 % of the path, by the hour; the paper "
    "says nothing of its paths' load. Ten seconds are measured, whatever has come by then.",
    sweep={"path": ON, "hour": tuple(LOADS), "action": ACTIONS},
    scenario=hourly,
    figures=[
        Figure("hour", "primary", "action", "hour", "primary, Mbit/s", False, True, panel="path"),
        Figure("hour", "latency_geometric", "action", "hour", "others' documents, ms", False, True, panel="path"),
    ],
    seeds=4,
    quick={"path": ("cable",), "hour": (4,), "action": ("reno/null", "netnice/null")},
    pinned={"primary": 0.05, "latency_geometric": 0.05},
    bars=bars(),
    tables=[
        Table("beside", ("path", "action"), "hour", [Number("part", least=KEPT)], {"kind": "yielding"}),
        Table("alone", ("path", "action"), "hour", [Number("part", least=FOUND)], {"kind": "alone"}),
        Table("plain", ("path", "action"), "hour", [Number("part"), Number("latency_geometric", 0)], {"kind": "plain"}),
        Table("others", ("path", "action"), "hour", [Number("latency_geometric", 0)], {"kind": "alone"}),
    ],
    derive=parts_of_reno,
)  # fmt: skip

# Figure 8, cable modem: what a long download keeps beside eight transfers, wherever in its sawtooth they begin.
RATE, RTT = 10_000_000, 40_000
OTHERS = 8
SETTLED, SAWTOOTH, MEASURED = 13.0, 5.0, 12.0
"""Seconds until the download's sawtooth is steady, of one of its teeth, and of the measurement."""
LATE = (
    "late comers take the queue that they find for the path's own delay, and for two seconds eight windows of two "
    "segments are a quarter of what is on the way; it takes a low of the sawtooth, or one that starves, to tell them"
)


ALONE_RTT = RTT / 1e3 + 1514 * 8 / RATE * 1e3
"""Milliseconds, without a queue."""
FULL = "CUBIC's window falls to 0.7 of two BDP: flows that join find four tenths of the buffer full at least"


def sawtooth(kind: str, after: float, seed: int) -> Scenario:
    """A CUBIC download; the others join, and `after` seconds later the measurement begins."""
    chosen = protocol(kind)
    joined = SETTLED + SAWTOOTH * (seed * GOLDEN % 1)
    traffic = [Bulk("www", "home", 1, "cubic", (0.0, 0.1), group="download")]
    if not chosen.none:
        traffic.append(Bulk("bulk", "home", OTHERS, chosen.congestion_control, (joined, joined + 0.1)))
    network = dumbbell(RATE, RTT, Queue("fifo", bytes=RATE * RTT // 8_000_000))
    begin = joined + after
    return finish(Scenario(network, tuple(traffic), begin + MEASURED, begin, seed), chosen)


def download_keeps(kind: str, after: float, minimum: float, holds: bool = True, reason: str = "") -> Bar:
    """Of what the download has alone."""
    says, cell = f"{kind}: the download's goodput from {after:g} s on, over alone", {"after": after}
    return Bar(says, "download", {"kind": kind, **cell}, {"kind": "none", **cell}, minimum, holds=holds, reason=reason)


EXPERIMENTS["nice-sawtooth"] = Experiment(
    title="A long download beside eight transfers: 10 Mbit/s, 40 ms, 1 BDP, from their start and from 3 s later",
    claim="On a cable modem, when Reno flows compete with eight Nice flows, they receive 97 % of the bandwidth they "
    "would receive alone; Reno/Reno8 shows fair sharing.",
    differs="The download is CUBIC's and lasts; the paper's transfers of 10 s began together. 12 s are measured.",
    sweep={"kind": ("none", "netnice", "nice-0.1", "reno"), "after": (0.0, 3.0)},
    scenario=sawtooth,
    figures=[Figure("after", "download", "kind", "seconds after the others' start", "download, Mbit/s")],
    seeds=40,
    pinned={"download": 0.01, "background": 0.20},
    bars=[
        download_keeps(
            "netnice", 3.0, 0.97, holds=False, reason="{mean} of alone, by a half of a percent; not examined"
        ),
        download_keeps("nice-0.1", 3.0, 0.97),
        download_keeps("netnice", 0.0, 0.97, holds=False, reason=LATE),
        Bar(
            "nice-0.1: its smallest RTT is the path's, within 12 s",
            "background_min_rtt",
            {"kind": "nice-0.1", "after": 0.0},
            maximum=1.05 * ALONE_RTT,
            holds=False,
            reason=FULL,
        ),
    ],
)
