# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The torrent's one table: the queue that it made, what it moved, and how long pages took beside it."""

from __future__ import annotations

from collections.abc import Sequence

from demo import layout
from demo.torrent.conditions import LOADS, SCENARIOS
from demo.torrent.scene import Result

_NONE = "–"
_HEAD = ("the client", "by", "queueing delay, median", "95th percentile", "torrent", "page, mean")
_LOADS = {load.key: load.title for load in LOADS}
_KINDS = {one.key: one.title for one in SCENARIOS}


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a run: goodput against plain TCP, pages against pages alone, of the same direction."""
    found = {(one.load, one.kind): one for one in results}
    return [_row(one, found.get((one.load, "cubic")), found.get((one.load, "nothing"))) for one in results]


def _row(one: Result, plain_tcp: Result | None, alone: Result | None) -> tuple[str, ...]:
    idle = one.kind == "nothing"
    return (
        _LOADS[one.load] + ("" if one.path_trusted else " (VOID)"),
        "no torrent" if idle else _KINDS[one.kind],
        f"{one.queue_median_ms:.0f} ms",
        f"{one.queue_p95_ms:.0f} ms",
        _NONE if idle else _goodput(one, plain_tcp),
        layout.pages(one.page_mean_ms, one.pages_failed, alone.page_mean_ms if alone and alone is not one else None),
    )


def _goodput(one: Result, plain_tcp: Result | None) -> str:
    compared = plain_tcp and plain_tcp is not one and plain_tcp.torrent_bps
    share = f", {100 * one.torrent_bps / plain_tcp.torrent_bps:.0f} %" if plain_tcp and compared else ""
    return f"{one.torrent_bps / 1e6:.2f} Mbit/s{share}"


def plain(results: Sequence[Result]) -> str:
    """Aligned columns."""
    return layout.aligned([_HEAD, *rows(results)])


def markdown(results: Sequence[Result]) -> str:
    """The same for docs/torrent.md."""
    return layout.markdown(_HEAD, rows(results))


def doubts(results: Sequence[Result]) -> list[str]:
    """Why some of the numbers are not to be believed; empty when all are."""
    return [f"VOID '{one.load}, {one.kind}': {reason}" for one in results for reason in one.path_reasons]
