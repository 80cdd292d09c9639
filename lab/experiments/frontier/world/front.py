# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What everybody finds and costs: a background's part of the spare capacity, and what it adds to documents' latency."""

from collections.abc import Mapping, Sequence

import pandas as pd

from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Figure, Number, Table, Value

CURVES = {
    "nice by threshold": ("nice-0.05", "nice-0.1", "nice-0.2", "nice-0.4"),
    "netnice's levels": ("netnice", "netnice1", "netnice2"),
    "a rate limit": ("reno-at-10", "reno-at-30", "reno-at-50", "reno-at-70", "reno-at-90"),
}
POINTS = ("cubic", "bbr", "vegas-1-3", "lp", "nnlp", "nnledbat", "nnledbatpp")
PROTOCOLS = ("none", "priority", *(name for names in CURVES.values() for name in names), *POINTS)
LIMIT = {30: 2, 60: 7, 70: 10, 80: 16}
"""Per cent of the spare and of latency: the best of some thousand random laws that see the queue a round trip late, in
a packet simulation of 20 Mbit/s, 40 ms and a buffer of a BDP."""
MOST_ADDED, LEAST_USED = 1.10, 0.60
DIFFERS = (
    "The spare is what the priority queue's background finds; latency is the documents' geometric mean, over that "
    "without a background."
)


def front(frame: pd.DataFrame, key: Sequence[str], limit: bool = False) -> pd.DataFrame:
    """Per cent of the spare `used` and of latency `added`, by condition and seed."""
    by = [*key, "seed"]
    alone = frame[frame.protocol == "none"].set_index(by).latency_geometric.rename("alone")
    spare = frame[frame.protocol == "priority"].set_index(by).background.rename("spare")
    rows = frame[~frame.protocol.isin(["none"])].join(alone, on=by).join(spare, on=by)
    rows = rows.assign(
        used=100 * rows.background / rows.spare, added=100 * (rows.latency_geometric / rows.alone - 1)
    ).copy()
    curve = {name: curve for curve, names in CURVES.items() for name in names}
    rows["curve"] = rows.protocol.map(curve).fillna(rows.protocol)
    if not limit:
        return rows
    best = pd.DataFrame({"used": list(LIMIT), "added": list(LIMIT.values()), "protocol": "", "curve": "modelled limit"})
    conditions = frame[list(key)].drop_duplicates()
    return pd.concat([rows, conditions.merge(best, how="cross")], ignore_index=True)


def figure(panel: str) -> Figure:
    """Right and down is better."""
    return Figure("used", "added", "curve", "of the spare used, %", "latency added, %", panel=panel, kind="frontier")


def table(name: str, column: str, **only: Value) -> Table:
    """A row a protocol."""
    return Table(name, ("protocol",), column, [Number("used", 0), Number("added", 0)], only)


def bars(known: Mapping[str, str], says: str, cell: Mapping[str, Value]) -> list[Bar]:
    """Three fifths of the spare for a tenth of latency; and neither less use nor more latency than the paper's Nice."""
    ours, nice = {"protocol": "netnice", **cell}, {"protocol": "nice-0.1", **cell}
    alone, priority = {"protocol": "none", **cell}, {"protocol": "priority", **cell}
    return [
        misses.bar(known, f"added {says}", "latency_geometric", ours, alone, maximum=MOST_ADDED),
        misses.bar(known, f"used {says}", "background", ours, priority, minimum=LEAST_USED),
        misses.bar(known, f"latency / nice {says}", "latency_geometric", ours, nice, maximum=1.0),
        misses.bar(known, f"use / nice {says}", "background", ours, nice, minimum=1.0),
    ]
