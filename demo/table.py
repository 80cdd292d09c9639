# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The demo's one table, for a terminal and for the README."""

from __future__ import annotations

from collections.abc import Sequence

from demo import layout
from demo.scenario import Result

_NONE = "–"
#: The whole table: of a terminal, and of docs/demo.md with the units that its headings leave out.
_HEAD = (
    "background",
    "mean ms",
    "× alone",
    "median ms",
    "p99 ms",
    "× alone",
    "Mbit/s",
    "% of spare",
    "% of ideal",
)
_FULL = (
    "background",
    "documents: mean, ms",
    "× alone",
    "median, ms",
    "p99, ms",
    "× alone",
    "background: Mbit/s",
    "% of spare",
    "% of ideal",
)
#: What most readers want to know, and all that the README has.
_SHORT = ("background", "documents take, mean", "1 in 100 takes over", "background gets")


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a scenario; ratios are left out where there is nothing to compare with."""
    by_key = {result.key: result for result in results}
    alone, ideal = by_key.get("nothing"), by_key.get("priority")
    return [_row(result, alone, ideal) for result in results]


def short_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """The same in four columns: a latency with its ratio, a goodput with its share of the ideal."""
    return [
        (
            title,
            _with(f"{mean} ms", mean_times, "× {}"),
            _with(f"{p99} ms", p99_times, "× {}"),
            _with(f"{goodput} Mbit/s", share, "{} % of ideal") if goodput != _NONE else _NONE,
        )
        for title, mean, mean_times, _median, p99, p99_times, goodput, _spare, share in rows(results)
    ]


def _with(value: str, ratio: str, form: str) -> str:
    return value if ratio == _NONE else f"{value}, {form.format(ratio)}"


def _row(result: Result, alone: Result | None, ideal: Result | None) -> tuple[str, ...]:
    def times(name: str) -> str:
        if alone is None or result is alone:
            return _NONE
        return f"{result.foreground[name] / alone.foreground[name]:.2f}"

    busy = result.key != "nothing"
    share = _NONE
    if busy and ideal is not None and ideal.background_bps > 0:
        share = f"{100 * result.background_bps / ideal.background_bps:.0f}"
    title = result.title if result.path_trusted else f"{result.title} (VOID)"
    return (
        title,
        f"{result.foreground['mean_us'] / 1e3:.0f}",
        times("mean_us"),
        f"{result.foreground['median_us'] / 1e3:.0f}",
        f"{result.foreground['p99_us'] / 1e3:.0f}",
        times("p99_us"),
        f"{result.background_bps / 1e6:.2f}" if busy else _NONE,
        f"{100 * result.spare_used:.0f}" if busy else _NONE,
        share,
    )


def plain(results: Sequence[Result], *, full: bool = False) -> str:
    """Aligned columns, of the whole table under two headings."""
    head, body = (_HEAD, rows(results)) if full else (_SHORT, short_rows(results))
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    lines = ["  ".join(_cell(word, i, widths) for i, word in enumerate(line)) for line in [head, *body]]
    if full:
        middle, right = sum(widths[1:6]) + 2 * 4, sum(widths[6:]) + 2 * 2
        over = "document latency".center(middle, "─") + "  " + "background goodput".center(right, "─")
        lines.insert(0, " " * (widths[0] + 2) + over)
    return "\n".join(lines)


def _cell(word: str, column: int, widths: Sequence[int]) -> str:
    return word.ljust(widths[0]) if column == 0 else word.rjust(widths[column])


def markdown(results: Sequence[Result], *, full: bool = False) -> str:
    """The table of the README, or the whole one of docs/demo.md."""
    head, body = (_FULL, rows(results)) if full else (_SHORT, short_rows(results))
    return layout.markdown(head, body, words=1)


def doubts(results: Sequence[Result]) -> list[str]:
    """Why some of the numbers are not to be believed; empty when all are."""
    said = []
    for result in results:
        said += [f"VOID '{result.key}': {reason}" for reason in result.path_reasons]
        unfinished = int(result.foreground["unfinished"])
        if unfinished:
            said.append(
                f"'{result.key}': {unfinished} of {int(result.foreground['documents'])} documents had not "
                "arrived when the run ended; the latencies leave them out and are too low"
            )
    return said
