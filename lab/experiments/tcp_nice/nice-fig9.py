# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 9: the actions of figure 8 by the hour of the day."""

import pandas as pd

from experiments.tcp_nice.world.hours import LOADS, hourly
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table

CORES = ("nice", "netnice")
ALONE = tuple(f"{core}/null" for core in CORES)
BESIDE = tuple(f"reno/{core}{count}" for core in CORES for count in ("", "8"))
ACTIONS = ("reno/null", "reno/reno", "reno/reno8", *BESIDE, *ALONE)
ON = ("cable", "london", "wifi")
KEPT, FOUND, WORST = 0.98, 0.90, 0.30
"""Of Reno alone: what it keeps, what the background finds over a day, and in the paper's worst hour."""
MISSES = misses.read(
    {
        "they begin with the transfer and take its queue for the path's own delay, as in nice-fig8; ten seconds are "
        "too short to learn better": """
            reno/nice: cable london
            reno/nice8: cable london wifi
            reno/netnice: cable london wifi
            reno/netnice8: cable london wifi
        """,
        "it gives way to the others' documents; Reno does not, they take it up to five times as long": """
            nice/null: cable london
            netnice/null: cable london
            nice/null at 0 h: london
            nice/null at 12 h: cable london
            nice/null at 16 h: london
            nice/null at 20 h: london
            netnice/null at 20 h: london
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
            netnice/null at 16 h: wifi
        """,
    }
)


def bars() -> list[Bar]:
    """Over the day, and hour by hour for what the background finds."""
    return [
        misses.bar(MISSES, f"{action} {path}", "primary", {"path": path, "action": action},
                   {"path": path, "action": "reno/null"}, minimum=minimum)
        for actions, minimum in ((BESIDE, KEPT), (ALONE, FOUND)) for action in actions for path in ON
    ] + [
        misses.bar(MISSES, f"{action} at {hour} h {path}", "primary", {"path": path, "action": action, "hour": hour},
                   {"path": path, "action": "reno/null", "hour": hour}, minimum=WORST)
        for action in ALONE for path in ON for hour in LOADS
    ]  # fmt: skip


def parts_of_reno(frame: pd.DataFrame) -> pd.DataFrame:
    """The primary's throughput as a part of what Reno alone has at that hour with the same others."""
    keys = ["path", "hour", "seed"]
    base = frame[frame.action == "reno/null"].set_index(keys).primary
    over = base.reindex(pd.MultiIndex.from_frame(frame[keys])).to_numpy()
    kinds = dict.fromkeys(BESIDE, "yielding") | dict.fromkeys(ALONE, "alone")
    return frame.assign(part=frame.primary / over, kind=frame.action.map(kinds).fillna("plain"))


experiment = Experiment(
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
