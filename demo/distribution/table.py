# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The distribution's one table: what each setting cost the links, and when everybody had the file."""

from __future__ import annotations

from collections.abc import Sequence

from demo import layout
from demo.distribution.result import Result, better

_HEAD = ("sent by", "ping, mean", "slowest link's", "completion ÷ least", "fastest link's", "all have it after")


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a setting."""
    return [_row(one) for one in results]


def _row(one: Result) -> tuple[str, ...]:
    slowest = min(one.clients, key=lambda client: client.rate_bps)
    fastest = max(one.clients, key=lambda client: client.rate_bps)
    return (
        one.title + ("" if one.path_trusted else " (VOID)"),
        f"{one.ping_ms:.0f} ms",
        f"{slowest.waited_ms:.0f} ms",
        f"{one.times:.2f}",
        f"{fastest.times:.2f}",
        f"{one.last_s:.1f} s",
    )


def plain(results: Sequence[Result]) -> str:
    """Aligned columns, and the answer under them."""
    under = answer(results)
    return layout.aligned([_HEAD, *rows(results)]) + (f"\n\n{under}" if under else "")


def markdown(results: Sequence[Result]) -> str:
    """The same for docs/distribution.md."""
    return layout.markdown(_HEAD, rows(results), words=1)


def answer(results: Sequence[Result]) -> str:
    """Whether a throttle is better than none under netnice; nothing where there is nothing to compare."""
    if len(results) < 2 or not any(one.key == "netnice" for one in results):
        return ""
    worse_than = ", ".join(one.title for one in better(results))
    return f"Better than netnice both ways by over 5 %: {worse_than or 'no setting'}."


def doubts(results: Sequence[Result]) -> list[str]:
    """Why some of the numbers are not to be believed; empty when all are."""
    return [f"VOID '{one.key}': {reason}" for one in results for reason in one.path_reasons]
