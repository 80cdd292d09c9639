# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Who yields to whom: runs of two flavours as the points of the report's matrix, and as its ranking."""

from itertools import combinations_with_replacement

import pandas as pd

from experiments.low_priority.world import access as lowprio
from experiments.low_priority.world.access import FLAVOURS
from netnice_lab.model.scenario import Scenario

LINK = "wifi"
PAIRS = tuple(f"{first}:{second}" for first, second in combinations_with_replacement(FLAVOURS, 2))
"""Written first:second, in the order of FLAVOURS: best effort comes first. Each also meets itself."""


def scenario(pair: str, seed: int) -> Scenario:
    """One flow each."""
    first, second = pair.split(":")
    return lowprio.pair(first, second, LINK, seed)


def points(frame: pd.DataFrame) -> pd.DataFrame:
    """Both goodputs of every run as parts of what the link could carry, each pair both ways round."""
    names = frame.pair.str.split(":", expand=True)
    carried = pd.Series([lowprio.pair_capacity(LINK, int(seed)) for seed in frame.seed], frame.index)
    one = pd.DataFrame(
        {
            "first": names[0],
            "second": names[1],
            "first_part": frame["first"] / carried,
            "second_part": frame["second"] / carried,
        }
    )
    other = one.rename(
        columns={
            "first": "second",
            "second": "first",
            "first_part": "second_part",
            "second_part": "first_part",
        }
    )
    return pd.concat([one, other], ignore_index=True)


def ranking(frame: pd.DataFrame) -> pd.DataFrame:
    """For every flavour the part of all its runs in which it has more than the other, by the other.

    A flavour against itself does not count.
    """
    runs = points(frame)
    runs = runs[runs["first"] != runs["second"]].copy()
    runs["wins"] = (runs.first_part > runs.second_part).astype(float)
    rows = runs.groupby(["first", "second"], sort=False).wins.sum().reset_index()
    rows["part"] = rows.wins / rows["first"].map(runs.groupby("first").size())
    order = rows.groupby("first").part.sum().sort_values(kind="stable").index
    return pd.concat([rows[rows["first"] == name] for name in order], ignore_index=True)
