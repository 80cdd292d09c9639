# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the receivers must show, in a table: the report's numbers, the bars, ours, and why a bar is missed.

Bounds, values and reasons are those of the experiments' bars; here is only which of them a row has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netnice_lab.errors import LabError
from netnice_lab.judgement import bars as judgement_bars
from netnice_lab.model.experiment import Bar, Experiment, Results, Summary

if TYPE_CHECKING:
    import pandas as pd

PERIODS = (1, 3, 5, 10, 30)


@dataclass(frozen=True)
class Row:
    """A line: what the report and the first design had, and the bars of an experiment, by their ids."""

    measure: str
    experiment: str
    bars: tuple[str, ...]
    paper: str = "–"
    design: str = "–"


ROWS = (
    Row("BE goodput with LBE / without, 6 Mbit/s CBR", "vulture-fig15", ("goodput-kept",), "1.00", "1.00"),
    Row("BE RTT added by LBE", "vulture-fig16", ("rtt-added",), "+40 %", "+6 %"),
    Row("LBE use of what CBR leaves", "vulture-fig15", ("use-of-what-is-left",), ".83", ".91"),
    Row("the same of a live flow: BE, LBE (figure 14)", "vulture-fig14",
        ("foreground-of-its-6-mbit/s", "background-of-the-rest"), ".93 .83"),
    *(Row(f"LBE alone, {sender} sender: whole period, settled", "vulture-fig17",
          (f"{sender}-whole-period", f"{sender}-settled"), ".93 .99", ".98 1.00")
      for sender in ("cubic", "reno", "bbr")),
    Row("BBR alone as LBE / as BE", "vulture-fig17", ("bbr-of-what-it-had-before",)),
    Row("LBE use of off periods: 1, 3, 5, 10, 30 s", "vulture-fig19", tuple(f"{t}-s-off" for t in PERIODS),
        ".15 .20 .25 .33 .56", ".16 .58 .74 .82 .91"),
    Row("LBE share while BE is on", "vulture-fig19", tuple(f"{t}-s-on" for t in PERIODS),
        ".11 .12 .14 .14 .23", ".16 .09 .06 .04 .04"),
    Row("BE goodput in its on periods / alone: 1, 5 s", "vulture-fig19",
        ("1-s:-foreground-of-alone", "5-s:-foreground-of-alone"), "–", ".80 .93"),
    Row("time to find 10 Mbit/s set free, s", "vulture-fig9", ("found-within-2-s",), "20", "1–2.7"),
    Row("Jain, 2 / 4 / 8 / 16 / 64 flows", "vulture-fig20", tuple(f"{n}-flows" for n in (2, 4, 8, 16, 64)),
        ".96 .99 .98 .99 .99", "1.0 1.0 .93 .90 .79"),
    Row("an hour at 100 ppm: BE kept, use, RTT added", "vulture-clocks",
        tuple(f"beside-6-mbit/s:-{what}" for what in ("goodput-kept", "use-of-what-is-left", "rtt-added"))),
    Row("an hour at 100 ppm: use of off periods", "vulture-clocks", tuple(f"{t}-s-off" for t in PERIODS)),
    Row("an hour at 100 ppm: share while BE is on", "vulture-clocks", tuple(f"{t}-s-on" for t in PERIODS)),
    Row("route 3, 6, 10, 20, 50, 100 ms longer: use", "vulture-route",
        tuple(f"{ms}-ms:-the-path-is-used" for ms in (3, 6, 10, 20, 50, 100))),
    Row("documents beside 1, 4, 16 downloads / alone", "vulture-documents",
        tuple(f"{n}-downloads:-latency" for n in (1, 4, 16))),
)  # fmt: skip
FAITHFUL = ("vulture-fig2", "vulture-fig9", *(f"vulture-fig{n}" for n in (14, 15, 16, 17, 19, 20)))
"""Where the report's own numbers are held against the faithful core."""
SHOWN = tuple(dict.fromkeys([row.experiment for row in ROWS] + list(FAITHFUL)))
"""The experiments that the table is made of."""


def bounds(bars: Sequence[Bar]) -> str:
    """'≥ .99 .97 ≤ .06': a sign where it changes."""
    words: list[str] = []
    last = ""
    for bar in bars:
        sign, value = ("≤", bar.maximum) if bar.minimum is None else ("≥", bar.minimum)
        words += [short(value)] if sign == last else [sign, short(value)]
        last = sign
    return " ".join(words)


def short(value: float | None) -> str:
    """Three digits, without a leading zero."""
    if value is None:
        return "–"
    return f"{value:.3f}".rstrip("0").rstrip(".").replace("0.", ".", 1) if abs(value) < 10 else f"{value:.3g}"


def measure(found: Experiment, frame: pd.DataFrame, bar: Bar) -> tuple[float, float, int]:
    """A bar's value, with its interval and seeds."""
    measured = judgement_bars.measure(bar, frame.to_dict("records"))
    if measured is None:
        raise LabError(f"{found.name}: nothing was run for '{bar.says}'", "", f"lab/netnice-lab run {found.name}")
    return measured


def row(line: Row, found: Experiment, frame: pd.DataFrame) -> tuple[str, list[str]]:
    """A line of the table, and what is to be said of its misses."""
    by_id = {bar.id: bar for bar in found.bars}
    if missing := [one for one in line.bars if one not in by_id]:
        raise LabError(f"{found.name} has no bar '{missing[0]}'", "", f"its bars are {', '.join(by_id)}")
    bars = [by_id[one] for one in line.bars]
    values = [measure(found, frame, bar) for bar in bars]
    good = [bar.met(value[0]) for bar, value in zip(bars, values, strict=True)]
    ours = " ".join(short(v) if met else f"**{short(v)}**" for (v, _, _), met in zip(values, good, strict=True))
    misses: dict[str, list[str]] = {}
    for bar, value, met in zip(bars, values, good, strict=True):
        if not met:
            misses.setdefault(judgement_bars.in_words(bar.reason, value) or "no reason is known", []).append(bar.says)
    said = [f"* {line.measure} ({', '.join(says)}): {why}." for why, says in misses.items()]
    verdict = "met" if all(good) else "missed" if not any(good) else f"{sum(good)} of {len(good)}"
    return f"| {line.measure} | {line.paper} | {line.design} | {bounds(bars)} | {ours} | {verdict} |", said


def reproduced(results: Sequence[tuple[Experiment, pd.DataFrame]]) -> tuple[str, list[str]]:
    """The same of the faithful core: how many of the report's numbers come out."""
    good, misses = 0, []
    bars = [(*result, bar) for result in results for bar in result[0].bars if bar.id.startswith("faithful-")]
    for found, frame, bar in bars:
        value = measure(found, frame, bar)[0]
        good += bar.met(value)
        if not bar.met(value):
            misses.append(f"{found.name} {bar.says.removeprefix('faithful, ')}, ours {short(value)}")
    line = (
        f"| faithful Vulture against its own figures and tables | {len(bars)} numbers | .76 alone, Jain .19–.62 "
        f"| within 10 % | {good} of {len(bars)} | {'met' if not misses else 'step shown'} |"
    )
    said = [f"* Faithful Vulture: {'; '.join(misses)}. Algorithm 3's sign of a noisy sum: the head of `vulture.h`."]
    return line, said if misses else []


def table(results: Results) -> str:
    """The whole, in Markdown: the lines, then the reasons of what is bold."""
    parts = [reproduced([results[name] for name in SHOWN])]
    parts += [row(line, *results[line.experiment]) for line in ROWS]
    head = ["| measure | paper | first design | bar | ours | |", "| --- | --- | --- | --- | --- | --- |"]
    lines = [line for line, _ in parts]
    return "\n".join([*head, *lines, "", *(said for _, misses in parts for said in misses)]) + "\n"


summary = Summary(SHOWN, table)
