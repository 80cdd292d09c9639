# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What everybody finds and costs: a background's part of the spare capacity, and what it adds to documents' latency."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Figure, Number, Table, Value

NICE = ("nice-0.05", "nice-0.1", "nice-0.2", "nice-0.4")
CURVES = {
    "nice by threshold": NICE,
    "netnice's levels": ("netnice", "netnice1", "netnice2"),
    "a rate limit": ("reno-at-10", "reno-at-30", "reno-at-50", "reno-at-70", "reno-at-90"),
}
POINTS = ("cubic", "bbr", "vegas-1-3", "lp", "nnlp", "nnledbat", "nnledbatpp")
PROTOCOLS = ("none", "priority", *(name for names in CURVES.values() for name in names), *POINTS)
LIMIT = {30: 2, 60: 7, 70: 10, 80: 16}
"""Per cent of the spare and of latency: the best of some thousand random laws that see the queue a round trip late, in
a packet simulation of 20 Mbit/s, 40 ms and a buffer of a BDP."""
MORE = "it uses more than three fifths, and the modelled limit adds 10 % at 70 %, 16 % at 80 %"
FEW_PACKETS = (
    "the path and its buffer hold few packets, a document's first ten are most of them: two of ours are in their way, "
    "and more than two are too many"
)
ALONE = "one flow sees the queue once in each of its rounds, and what it left it takes again by a segment a round"
BY_FLOW = "who has a queue of his own sees nobody's: flows take what is theirs, as all of them do"
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
    rows["of_nice"] = of_nice(rows, by)
    rows["curve"] = rows.protocol.map(curve).fillna(rows.protocol)
    if not limit:
        return rows
    best = pd.DataFrame(
        {"used": list(LIMIT), "added": list(LIMIT.values()), "protocol": None, "curve": "modelled limit"}
    )
    conditions = frame[list(key)].drop_duplicates()
    return pd.concat([rows, conditions.merge(best, how="cross")], ignore_index=True)


def of_nice(rows: pd.DataFrame, by: Sequence[str]) -> "pd.Series[float]":
    """What the paper's Nice adds where its threshold makes it use as much as netnice: between its points, else none."""
    points = rows[rows.protocol.isin(NICE)].sort_values("used")
    curves = {condition: (one.used.to_numpy(), one.added.to_numpy()) for condition, one in points.groupby(list(by))}
    ours = rows[rows.protocol == "netnice"]
    found = [
        float(np.interp(row.used, *curves[tuple(row[key] for key in by)], left=np.nan, right=np.nan))
        for _, row in ours.iterrows()
    ]
    return pd.Series(found, ours.index, dtype=float)


def figure(panel: str) -> Figure:
    """Right and down is better."""
    return Figure("used", "added", "curve", "of the spare used, %", "latency added, %", panel=panel, kind="frontier")


def tables(name: str, column: str, **only: Value) -> list[Table]:
    """A row a protocol; and netnice's again, beside what the paper's Nice adds at that use."""
    numbers = [Number("used", 0), Number("added", 0)]
    return [
        Table(name, ("protocol",), column, numbers, only),
        Table(f"{name}-nice", ("protocol",), column, [*numbers, Number("of_nice", 0)], {**only, "protocol": "netnice"}),
    ]


def bars(known: Mapping[str, str], says: str, cell: Mapping[str, Value]) -> list[Bar]:
    """Three fifths of the spare, for a tenth of latency."""
    ours, alone, priority = ({"protocol": name, **cell} for name in ("netnice", "none", "priority"))
    return [
        misses.bar(known, f"added {says}", "latency_geometric", ours, alone, maximum=MOST_ADDED),
        misses.bar(known, f"used {says}", "background", ours, priority, minimum=LEAST_USED),
    ]
