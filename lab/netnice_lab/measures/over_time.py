# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What flows had over time, from their samples; and curves as the papers draw them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netnice_lab.model.experiment import Cell, Timeline
from netnice_lab.model.output import Groups

if TYPE_CHECKING:
    import pandas as pd

Samples = dict[str, "pd.DataFrame"]


def acknowledged(flow: pd.DataFrame, numbers: Sequence[int], times: np.ndarray) -> np.ndarray:
    """Bytes that flows had acknowledged at times in seconds, all together."""
    rows = flow[flow.id.isin(numbers)].groupby("id")
    return sum((np.interp(times * 1e6, one.us, one.acked, left=0) for _, one in rows), np.zeros(len(times)))


def goodput(flow: pd.DataFrame, numbers: Sequence[int], begin: float, end: float) -> float:
    """Mbit/s acknowledged of a group between two times in seconds."""
    first, last = acknowledged(flow, numbers, np.array([begin, end]))
    return float(last - first) * 8e-6 / (end - begin)


def latency(flow: pd.DataFrame, numbers: Sequence[int], begin: float, end: float) -> float:
    """Mean of a group's sampled smoothed RTTs between two times in seconds, ms."""
    rows = flow[flow.id.isin(numbers) & (flow.rtt_us > 0) & flow.us.between(begin * 1e6, end * 1e6)]
    return float(rows.rtt_us.mean()) / 1e3


def rates(groups: Groups, samples: Samples, every: float = 1.0) -> pd.DataFrame:
    """Mbit/s of each group, one value every so many seconds."""
    flow = samples["flow"]
    times = np.arange(0.0, flow.us.max() / 1e6, every)
    lines = {group: np.diff(acknowledged(flow, numbers, times)) * 8e-6 / every for group, numbers in groups.items()}
    import pandas as pd

    return pd.DataFrame(lines, index=times[:-1])


def delays(groups: Groups, samples: Samples, every: float = 1.0) -> pd.DataFrame:
    """Smoothed RTT in ms of each group, mean of its flows, one value every so many seconds."""
    flow = samples["flow"]
    flow = flow[flow.rtt_us > 0].reset_index(drop=True)
    bins = (flow.us // int(every * 1e6)) * every
    lines = {
        group: flow[flow.id.isin(numbers)].groupby(bins).rtt_us.mean() / 1e3
        for group, numbers in groups.items()
        if numbers
    }
    import pandas as pd

    return pd.DataFrame(lines)


def courses(cell: Cell, every: float = 1.0) -> list[Timeline]:
    """Throughput and latency of a cell against time, as the papers' figures (a) and (b)."""
    return [
        Timeline(cell, "Mbit/s", partial(rates, every=every)),
        Timeline(cell, "smoothed RTT, ms", partial(delays, every=every)),
    ]
