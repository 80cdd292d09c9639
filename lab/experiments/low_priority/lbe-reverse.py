# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Congestion on the way of the ACKs, with and without timestamps: who takes it for a queue of its own?"""

from dataclasses import replace

from experiments.low_priority.world.access import LEVELS, LINKS, bulk, scenario, topology
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk

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
    """A CUBIC flow fills the way back, or nobody does."""
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


experiment = Experiment(
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
    ],
)  # fmt: skip
