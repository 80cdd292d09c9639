# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The household's one table: what each background cost those at home, and what it moved."""

from __future__ import annotations

from collections.abc import Sequence

from demo import layout
from demo.household.conditions import LOADS
from demo.household.scene import Result

_NONE = "–"
_HEAD = ("background", "how", "call p95", "lost", "page", "video stalls", "moved up", "moved down")
_KINDS = {"cubic": "plain", "netnice": "netnice", "priority": "ideal"}
_TITLES = {load.key: load.title for load in LOADS}


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a run; a page's ratio is to the household with nothing beside it."""
    alone = next((one for one in results if not one.load), None)
    ideal = {one.load: one for one in results if one.kind == "priority"}
    return [_row(one, alone, ideal.get(one.load)) for one in results]


def _row(one: Result, alone: Result | None, ideal: Result | None) -> tuple[str, ...]:
    stalls = f"{one.stalled_s:.1f} s" if one.stalls else "none"
    title = _TITLES.get(one.load, "nothing") + ("" if one.path_trusted else " (VOID)")
    return (
        title,
        _KINDS.get(one.kind, ""),
        f"{one.call_p95_ms:.0f} ms",
        f"{100 * one.call_lost / one.call_sent:.1f} %",
        layout.pages(one.page_mean_ms, one.pages_failed, alone.page_mean_ms if alone and alone is not one else None),
        f"{stalls}, {one.video_bps / 1e6:.1f} Mbit/s",
        _moved(one.up_bytes, ideal.up_bytes if ideal else 0, ideal is one),
        _moved(one.down_bytes, ideal.down_bytes if ideal else 0, ideal is one),
    )


def _moved(size: float, ideal: float, is_ideal: bool) -> str:
    if not size and not ideal:
        return _NONE
    share = f", {100 * size / ideal:.0f} %" if ideal and not is_ideal else ""
    return f"{size / 1e6:.0f} MB{share}"


def plain(results: Sequence[Result]) -> str:
    """Aligned columns."""
    return layout.aligned([_HEAD, *rows(results)])


def markdown(results: Sequence[Result]) -> str:
    """The same for docs/household.md."""
    return layout.markdown(_HEAD, rows(results))


def doubts(results: Sequence[Result]) -> list[str]:
    """Why some of the numbers are not to be believed; empty when all are."""
    return [f"VOID '{one.load or 'nothing'}, {one.kind}': {reason}" for one in results for reason in one.path_reasons]
