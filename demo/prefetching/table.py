# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The figure as a table, and what it was to show."""

from __future__ import annotations

from collections.abc import Sequence

from demo import layout
from demo.prefetching.conditions import LINKS
from demo.prefetching.run import Result

_HEAD = ("link", "prefetching", "mean ms", "× none", "median ms", "p95 ms", "hits %", "demand", "prefetched", "wasted")
#: The paper's figure 10, as issue and text have it: arm and link, the most of the mean over that without prefetching.
BARS = {("cable", "aggressive-netnice"): 1 / 3, ("modem", "aggressive-netnice"): 1.05}


def ratio(results: Sequence[Result], link: str, arm: str) -> float | None:
    """The mean response time over that without prefetching; None when one of both is missing."""
    means = {(one.link, one.arm): one.mean_ms for one in results}
    if (link, arm) not in means or (link, "none") not in means:
        return None
    return means[link, arm] / means[link, "none"]


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A row a run, rates in kbit/s."""
    made = []
    for one in results:
        times = ratio(results, one.link, one.arm)
        made.append(
            (
                one.link,
                one.arm if one.path_trusted else f"{one.arm} (VOID)",
                f"{one.mean_ms:.0f}",
                "–" if times is None else f"{times:.2f}",
                f"{one.median_ms:.0f}",
                f"{one.p95_ms:.0f}",
                f"{100 * one.prefetched_share:.0f}",
                *(f"{bps / 1e3:.0f}" for bps in (one.demanded_bps, one.prefetched_bps, one.wasted_bps)),
            )
        )
    return made


def markdown(results: Sequence[Result]) -> str:
    """As docs/prefetch.md has it."""
    return layout.markdown(_HEAD, rows(results))


def plain(results: Sequence[Result]) -> str:
    """For a terminal."""
    lines = [_HEAD, *rows(results)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEAD))]
    return "\n".join(
        "  ".join(
            word.ljust(w) if i < 2 else word.rjust(w) for i, (word, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def verdicts(results: Sequence[Result]) -> list[str]:
    """What each bar says, met or missed."""
    titles = {link.key: link.title for link in LINKS}
    said = []
    for (link, arm), most in BARS.items():
        found = ratio(results, link, arm)
        if found is not None:
            word = "met" if found <= most else "MISSED"
            said.append(f"{word}: {arm} over none, {titles[link]}: {found:.2f}, at most {most:.2f}")
    return said


def doubts(results: Sequence[Result]) -> list[str]:
    """Why some numbers are not to be believed."""
    said = []
    for one in results:
        said += [f"VOID {one.link} {one.arm}: {reason}" for reason in one.path_reasons]
        if one.errors:
            said.append(f"{one.link} {one.arm}: {one.errors} replies were errors")
        if one.unfinished:
            said.append(
                f"{one.link} {one.arm}: {one.unfinished} had not come at the end, and count with the time until then"
            )
    return said
