# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The demo's one table, for a terminal and for the README."""

from __future__ import annotations

from collections.abc import Sequence

from demo.scenario import Result

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


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a scenario; ratios are left out where there is nothing to compare with."""
    by_key = {result.key: result for result in results}
    alone, ideal = by_key.get("nothing"), by_key.get("priority")
    return [_row(result, alone, ideal) for result in results]


def _row(result: Result, alone: Result | None, ideal: Result | None) -> tuple[str, ...]:
    def times(name: str) -> str:
        if alone is None or result is alone:
            return "–"
        return f"{result.foreground[name] / alone.foreground[name]:.2f}"

    busy = result.key != "nothing"
    share = "–"
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
        f"{result.background_bps / 1e6:.2f}" if busy else "–",
        f"{100 * result.spare_used:.0f}" if busy else "–",
        share,
    )


def plain(results: Sequence[Result]) -> str:
    """Aligned columns under two headings."""
    body = rows(results)
    widths = [max(len(line[i]) for line in [_HEAD, *body]) for i in range(len(_HEAD))]
    left = widths[0] + 2
    middle = sum(widths[1:6]) + 2 * 4
    right = sum(widths[6:]) + 2 * 2
    lines = [
        " " * left + "document latency".center(middle, "─") + "  " + "background goodput".center(right, "─"),
        "  ".join(_cell(word, i, widths) for i, word in enumerate(_HEAD)),
    ]
    lines += ["  ".join(_cell(word, i, widths) for i, word in enumerate(line)) for line in body]
    return "\n".join(lines)


def _cell(word: str, column: int, widths: Sequence[int]) -> str:
    return word.ljust(widths[0]) if column == 0 else word.rjust(widths[column])


def markdown(results: Sequence[Result]) -> str:
    """The table of the README."""
    head = (
        "background",
        "document latency: mean",
        "× alone",
        "median",
        "p99",
        "× alone",
        "background goodput, Mbit/s",
        "% of spare",
        "% of ideal",
    )
    lines = [head, ("---", *["---:"] * (len(head) - 1))]
    for title, mean, mean_times, median, p99, p99_times, *rest in rows(results):
        lines.append((title, f"{mean} ms", mean_times, f"{median} ms", f"{p99} ms", p99_times, *rest))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
