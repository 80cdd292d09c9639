# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The late comer: a second flow starts when the first has filled the queue to its target."""

from experiments.low_priority.world.access import LEVELS, LINKS, LOW, bulk, scenario, topology
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.scenario import Scenario

JOINS, AFTER, MEASURED = 30.0, 60.0, 30.0
HOMES = ("home", "other")
KNOWN = {
    "netnice2": "mean .93 of 5 seeds, .94 of 20, least .57: its band is less than a packet of 10 Mbit/s, so a third "
    "round in a row above it is taken for a level above and costs 7/8; it then starves until a look succeeds, 20 s at "
    "most",
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


experiment = Experiment(
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
        Bar(f"{name}, {homes} homes: fair", "background_fairness", {"protocol": name, "homes": homes}, minimum=0.95)
        for name in (*LEVELS, "nnledbatpp") for homes in (1, 2) if (name, homes) != ("netnice2", 2)
    ] + [
        Bar(f"{name}, 2 homes: fair", "background_fairness", {"protocol": name, "homes": 2}, minimum=0.95, holds=False,
            reason=reason)
        for name, reason in KNOWN.items()
    ],
)  # fmt: skip
