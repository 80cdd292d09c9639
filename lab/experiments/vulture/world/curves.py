# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is drawn against time."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.vulture.world.testbed import CAPACITY
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Timeline, Value
from netnice_lab.model.measure import Groups

LONGEST = 30
"""Seconds on and off of figure 18's ideal."""


def goodput(flow: pd.DataFrame, number: int, begin: float, end: float) -> float:
    """Mbit/s acknowledged of a flow between two times in seconds."""
    return over_time.goodput(flow, [number], begin, end)


def windows(groups: Groups, samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figures 11 to 13: the sender's congestion window, the receiver's estimate of it, the window it advertises."""
    flow, receiver = samples["flow"], samples["receiver"].set_index("us")
    sender = flow[flow.id == groups["background"][0]].set_index("us").window / 65536
    segments = receiver[["estimate", "window"]] / 1448
    lines = segments.join(sender.rename("cwnd"), how="inner").rename(columns={"window": "rwnd"})
    lines["rwnd"] = lines.rwnd.where(lines.rwnd > 0)  # foreground time: the kernel's own
    return lines.set_index(lines.index / 1e6)


def goodputs(groups: Groups, samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figures 9, 14 and 18: Mbit/s of each group, second by second."""
    flow = samples["flow"]
    times = np.arange(0.0, flow.us.max() / 1e6)
    lines = {
        group: [goodput(flow, numbers[0], at, at + 1) for at in times]
        for group, numbers in groups.items()
        if group != "reverse"
    }
    return pd.DataFrame(lines, index=times)


def beside_ideal(groups: Groups, samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figure 18: both flows, and the ideal background: all while the foreground is off, else nothing."""
    lines = goodputs(groups, samples)
    phase = (lines.index.to_numpy() - 5.0) // LONGEST
    return lines.assign(ideal=np.where(phase % 2 == 1, CAPACITY, 0.0))


def round_trips(groups: Groups, samples: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Figure 16: the foreground's smoothed RTT in ms, mean of every second."""
    flow = samples["flow"]
    rows = flow[(flow.id == groups["foreground"][0]) & (flow.rtt_us > 0)]
    return (rows.groupby(rows.us // 1_000_000).rtt_us.mean() / 1e3).to_frame("foreground")


def course(cell: Mapping[str, Value]) -> Timeline:
    """Goodputs against time."""
    return Timeline(cell, "Mbit/s", goodputs)
