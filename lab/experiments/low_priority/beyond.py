# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Beyond the report on low-priority TCP: a late comer, base drift, a congested way back, a route change."""

from dataclasses import replace

from experiments.low_priority.access import LEVELS, LINKS, LOW, Access, bulk, scenario, topology
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk, Change

EXPERIMENTS: dict[str, Experiment] = {}

# A second flow starts when the first has filled the queue to its target.
JOINS, AFTER, MEASURED = 30.0, 60.0, 30.0
HOMES = ("home", "other")
LATE = "the late comer has .1 to .3 of it in most runs, where siblings used to raise each other"
UNFAIR = {
    "nnledbat": "the newcomer takes the first flow's queue for the base: RFC 6817's known flaw, which the core keeps",
}


def late(protocol: str, homes: int, seed: int) -> Scenario:
    """Two flows to one home or to two: netnice1 and netnice2 are siblings in the first case only."""
    link = LINKS["deep"]
    flows = (
        bulk("first", protocol, (0.0, 1.0), group="background"),
        bulk("second", protocol, (JOINS, JOINS + 1.0), group="background", sink=HOMES[homes - 1]),
    )
    network = topology(link, homes=HOMES[:homes])
    return scenario(link, flows, (protocol,), JOINS + AFTER + MEASURED, JOINS + AFTER, seed, network=network)


EXPERIMENTS["lbe-latecomer"] = Experiment(
    title="Late comer: Jain's index 60 s after the second's start, 10 Mbit/s, 40 ms, 400 ms of buffer",
    claim="LEDBAT: the newcomer starves the first. LEDBAT++ mends that with its slowdowns.",
    differs="All of a guest's hosts are one kernel: to one home the flows of netnice1 and netnice2 know of each other, "
    "as on one host; to two homes they do not, as on two hosts.",
    sweep={"protocol": LOW, "homes": (1, 2)},
    scenario=late,
    figures=[Figure("protocol", "background_fairness", "homes", "", "Jain's index of both")],
    seeds=5,
    quick={"protocol": ("netnice", "netnice1")},
    pinned={"background_fairness": 0.05, "background": 0.05},
    bars=[
        Bar(f"{name}, {homes} homes: fair", "background_fairness", {"protocol": name, "homes": homes}, minimum=0.95,
            holds=name != "netnice2", reason=(LATE, misses.EDGE)[homes - 1] if name == "netnice2" else "")
        for name in (*LEVELS, "nnledbatpp") for homes in (1, 2)
    ] + [
        Bar(f"{name}, 2 homes: fair", "background_fairness", {"protocol": name, "homes": 2}, minimum=0.95, holds=False,
            reason=reason)
        for name, reason in UNFAIR.items()
    ],
    tables=[Table("fair", ("protocol",), "homes", [Number("background_fairness")])],
)  # fmt: skip

# Base-delay drift: what a flow alone queues after five, fifteen and thirty minutes.
LINK = Access(2_000_000, 50_000, 500_000)
"""Two seconds of buffer: room for a base that drifts."""
LOOK = 120.0
"""The last seconds of the run are measured."""
DRIFTS = "after ten minutes its own queue is the smallest delay it remembers; the core keeps to the RFC"
EXPERIMENTS["lbe-drift"] = Experiment(
    title="A flow alone at 2 Mbit/s, 50 ms: its queue after 5, 15 and 30 minutes",
    claim="Ros and Welzl (2013): a long-lived LEDBAT flow adds more and more delay, one target every ten minutes.",
    sweep={"protocol": (*LEVELS, "nnledbat", "nnledbatpp", "nnlp"), "minutes": (5, 15, 30)},
    scenario=lambda protocol, minutes, seed: scenario(
        LINK, (bulk("first", protocol, (0.0, 1.0)),), (protocol,),
        minutes * 60.0, minutes * 60.0 - LOOK, seed, sample=1.0,
    ),
    figures=[Figure("minutes", "queue", "protocol", "minutes", "mean queue, bytes")],
    seeds=1,
    quick={"protocol": ("netnice",), "minutes": (5,)},
    pinned={"queue": 0.10, "first": 0.02},
    bars=[
        Bar(f"{name}: no more after 30 minutes than after 5", "queue", {"protocol": name, "minutes": 30},
            {"protocol": name, "minutes": 5}, maximum=1.25, holds=name != "nnledbat", reason=DRIFTS)
        for name in (*LEVELS, "nnledbat", "nnledbatpp")
    ],
    tables=[Table("drift", ("protocol",), "minutes", [Number("queue", 0)])],
)  # fmt: skip

# Congestion on the way of the ACKs, with and without timestamps: which flavour takes it for a queue of its own?
SHY = "15 % of this buffer and three round trips of watching leave TCP-LP 88 % of the link even alone"
BY_RTT = "the RTT holds the queue of both ways: 83 kB on the way back and none on the way there make 106 ms of 40"
IN_BURSTS = (
    "ACKs that waited come in bursts, and the segments that these release queue for a moment. With the queue of the "
    "way back in its RTT, Vegas counts by what ACKs wait now. It has 7.2 Mbit/s, CUBIC 8.8"
)
AS_RENO = (
    "its target of 100 ms is more than this buffer's 80: it loses packets and halves as Reno does, which has 7.8 "
    "Mbit/s here. With a target of 40 ms it has 8.7 of CUBIC's 8.8"
)
BURSTS = (
    "what bunched ACKs release passes 15 % of the buffer, though the mean queue there is a quarter of a packet: with "
    "60 % it has 5.0 Mbit/s"
)
BY_CLOCK = ("nnledbat", "nnlp")
BY_ROUND_TRIP = (*LEVELS, "nnledbatpp")


def both_ways(protocol: str, reverse: str, stamps: bool, seed: int) -> Scenario:
    """A CUBIC flow fills the reverse path, or none does."""
    traffic = [bulk("first", protocol, (0.0, 1.0))]
    if reverse != "none":
        traffic.append(Bulk("home", "second", 1, reverse, (5.0, 6.0), group="upload"))
    plain = LINKS["plain"]
    made = scenario(plain, tuple(traffic), (protocol,), 60.0, 20.0, seed, network=topology(plain, reverse=True))
    return made if stamps else replace(made, sysctls=(*made.sysctls, ("ipv4/tcp_timestamps", "0")))


def minds(name: str, why: str) -> Bar:
    """Beside CUBIC under the same upload."""
    cell: Cell = {"reverse": "cubic", "stamps": True}
    return Bar(f"{name} does not mind", "first", {"protocol": name, **cell}, {"protocol": "cubic", **cell},
               minimum=0.9, holds=False, reason=why)  # fmt: skip


EXPERIMENTS["lbe-reverse"] = Experiment(
    title="A CUBIC flow on the way back, 10 Mbit/s, 40 ms: goodput of a flow that has the way there to itself",
    claim="RFC 6817 and TCP-LP measure one way so that congestion on the way back does not slow them.",
    differs="Without timestamps (stamps = False) LEDBAT and TCP-LP have the RTT only.",
    sweep={"protocol": ("cubic", *BY_ROUND_TRIP, *BY_CLOCK), "reverse": ("none", "cubic"), "stamps": (True, False)},
    scenario=lambda protocol, reverse, stamps, seed: both_ways(protocol, reverse, stamps, seed),
    figures=[Figure("protocol", "first", "reverse", "", "goodput, Mbit/s", panel="stamps")],
    seeds=2,
    quick={"protocol": ("cubic", "netnice", "nnledbat"), "reverse": ("cubic",), "stamps": (True,)},
    pinned={"first": 0.05},
    bars=[
        minds("nnledbat", AS_RENO),
        minds("nnlp", BURSTS),
        minds("netnice", IN_BURSTS),
        *(minds(name, BY_RTT) for name in BY_ROUND_TRIP if name != "netnice"),
    ] + [
        Bar(f"{name} without timestamps, way back empty", "first",
            {"protocol": name, "reverse": "none", "stamps": False},
            {"protocol": "cubic", "reverse": "none", "stamps": False}, minimum=0.9, holds=name != "nnlp", reason=SHY)
        for name in (*BY_ROUND_TRIP, *BY_CLOCK)
    ] + [
        Bar(f"the way back slows {name}", "first", {"protocol": name, "reverse": "cubic", "stamps": True},
            {"protocol": name, "reverse": "none", "stamps": True}, maximum=most)
        for name, most in (("nnledbatpp", 0.5), ("nnledbat", 0.9), ("nnlp", 0.9))
    ],
    tables=[Table("uplink", ("protocol", "stamps"), "reverse", [Number("first")])],
)  # fmt: skip

# A route change: the RTT steps up or down by 100 ms under a flow alone.
CHANGE, SETTLED = 60.0, 10.0
SHORT, LONG = 40_000, 140_000
SLOW_TO_FIND = {
    "nnledbatpp": "a longer way looks like a queue until the base is forgotten, after eight spans of 75 s",
}


def steps(protocol: str, step: str, minutes: int, seed: int) -> Scenario:
    """The delay lies on the way of the ACKs, from the router to the first host."""
    before, after = (SHORT, LONG) if step == "up" else (LONG, SHORT)
    change = Change(CHANGE, "router", f"qdisc change dev router-0 root netem delay {after}us limit 1000000")
    start = CHANGE + SETTLED + (minutes - 1) * 60.0
    return scenario(
        Access(10_000_000, before, 175_000), (bulk("first", protocol, (0.0, 1.0)), change), (protocol,),
        start + 30.0, start, seed, sample=1.0,
    )  # fmt: skip


EXPERIMENTS["lbe-route"] = Experiment(
    title="Route change at 10 Mbit/s: RTT 40 to 140 ms and back, goodput from 10 s and 11 minutes after it",
    claim="Not in the papers; Nice and LEDBAT name it as a weakness.",
    differs="Only the way back becomes longer: one-way delays cannot see it.",
    sweep={
        "protocol": ("cubic", *LEVELS, "nnledbat", "nnledbatpp", "nnlp"), "step": ("up", "down"), "minutes": (1, 12),
    },
    scenario=lambda protocol, step, minutes, seed: steps(protocol, step, minutes, seed),
    figures=[Figure("minutes", "first", "protocol", "minutes", "goodput, Mbit/s", panel="step")],
    seeds=1,
    quick={"protocol": ("cubic", "netnice1"), "minutes": (1,)},
    pinned={"first": 0.05},
    bars=[
        Bar(f"{name}, RTT {step}, {minutes} min", "first", {"protocol": name, "step": step, "minutes": minutes},
            {"protocol": "cubic", "step": step, "minutes": minutes}, minimum=0.85)
        for name, step, minutes in (
            *((level, "down", 1) for level in LEVELS), *((level, "up", 12) for level in LEVELS),
            *((level, "up", 1) for level in LEVELS), ("nnledbat", "down", 1), ("nnledbat", "up", 1),
            ("nnledbatpp", "down", 1), ("nnledbatpp", "up", 12),
        )
    ] + [
        Bar(f"{name}, RTT up, 1 min", "first", {"protocol": name, "step": "up", "minutes": 1},
            {"protocol": "cubic", "step": "up", "minutes": 1}, minimum=0.85, holds=False, reason=reason)
        for name, reason in SLOW_TO_FIND.items()
    ],
    tables=[Table("route", ("protocol", "step"), "minutes", [Number("first")])],
)  # fmt: skip
