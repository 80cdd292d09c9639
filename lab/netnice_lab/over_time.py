# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What flows had over time, from their samples: the measures of the levels, and curves as the papers draw them."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from netnice_lab.experiment import Cell, Timeline

Groups = dict[str, list[int]]
Samples = dict[str, pd.DataFrame]

HELD = 0.9
"""Part of the link's payload that a newcomer has to have."""
HOLDS = 50
"""Round trips for which it has to have it."""


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


def beside(flow: pd.DataFrame, groups: Groups, times: Sequence[float], capacity: float) -> dict[str, float]:
    """The upper flow's goodput and latency, and how full the link is: settled, and from the lower flows' start on."""
    start, settled, end = times
    everyone = [number for numbers in groups.values() for number in numbers]
    found: dict[str, float] = {}
    for suffix, begin, until in (("", settled, end), ("_start", start, settled)):
        found |= {
            f"upper{suffix}": goodput(flow, groups["upper"], begin, until),
            f"upper_latency{suffix}": latency(flow, groups["upper"], begin, until),
            f"filled{suffix}": goodput(flow, everyone, begin, until) / capacity,
        }
    return found


def arrival(flow: pd.DataFrame, groups: Groups, begin: float, end: float, rtt: float, capacity: float) -> float:
    """Round trips until the newcomer holds its part of the link, counted from its start; at most until `end`."""
    rows = flow[flow.id.isin(groups["newcomer"]) & (flow.acked > 0)]
    begin = max(begin, float(rows.us.min()) / 1e6 - rtt) if len(rows) else begin
    times = np.arange(begin, end - HOLDS * rtt, rtt)
    had = acknowledged(flow, groups["newcomer"], times + HOLDS * rtt) - acknowledged(flow, groups["newcomer"], times)
    holds = had * 8e-6 >= HELD * capacity * HOLDS * rtt
    return float(np.argmax(holds)) if holds.any() else float(round((end - begin) / rtt))


def together(flow: pd.DataFrame, groups: Groups, times: Sequence[float]) -> dict[str, float]:
    """Goodput and Jain's index of one level's flows in the seconds before they have settled."""
    start, settled = times
    rates = np.array([goodput(flow, [number], start, settled) for number in groups["background"]])
    squares = len(rates) * float((rates**2).sum())
    return {
        "background_start": float(rates.sum()),
        "background_fairness_start": float(rates.sum()) ** 2 / squares if squares else 0.0,
    }


def metrics(measure: str, groups: Groups, end: float, samples: Samples) -> dict[str, float]:
    """The numbers of a run by the name of its measurement and the numbers that follow it."""
    kind, *words = measure.split()
    flow, numbers = samples["flow"], [float(word) for word in words]
    end = min(end, float(flow.us.max()) / 1e6)  # the end itself is not sampled
    if kind == "beside":
        start, settled, capacity = numbers
        return beside(flow, groups, (start, settled, end), capacity)
    if kind == "arrival":
        begin, rtt, capacity = numbers
        return {"held": arrival(flow, groups, begin, end, rtt, capacity)}
    if kind == "together":
        return together(flow, groups, numbers)
    return {}


MEASURES = ("beside", "arrival", "together")


def rates(groups: Groups, samples: Samples, every: float = 1.0) -> pd.DataFrame:
    """Mbit/s of each group, one value every so many seconds."""
    flow = samples["flow"]
    times = np.arange(0.0, flow.us.max() / 1e6, every)
    lines = {group: np.diff(acknowledged(flow, numbers, times)) * 8e-6 / every for group, numbers in groups.items()}
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
    return pd.DataFrame(lines)


def courses(cell: Cell, every: float = 1.0) -> list[Timeline]:
    """Throughput and latency of a cell against time, as the papers' figures (a) and (b)."""
    return [
        Timeline(cell, "Mbit/s", partial(rates, every=every)),
        Timeline(cell, "smoothed RTT, ms", partial(delays, every=every)),
    ]
