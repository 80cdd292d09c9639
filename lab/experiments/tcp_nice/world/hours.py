# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice's actions at several hours of a day: other people's documents take more of the path, or less."""

from dataclasses import replace

from experiments.frontier.world.paths import many_users
from experiments.low_priority.world.access import ROOMY
from experiments.tcp_nice.world.internet import PATHS, TOGETHER, parts
from netnice_lab.model.background import finish
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk, Documents, Traffic

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
    changes, knobs = chosen.weather(duration, seed)
    traffic += (*changes, *chosen.steps(duration, seed))
    made = Scenario(chosen.network(("others",)), traffic, duration, BEGIN, seed, sysctls=ROOMY)
    for name in dict.fromkeys((primary, secondary)):
        made = finish(made, protocol(name))
    return replace(made, knobs=knobs + made.knobs)
