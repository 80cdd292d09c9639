# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How the scenes lay out a table: aligned for a terminal, Markdown for their documents."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[str]


def aligned(lines: Sequence[Row]) -> str:
    """Columns as wide as their longest cell, two spaces apart; the first line is the heading."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)) for line in lines)


def markdown(head: Row, body: Sequence[Row], *, words: int = 2) -> str:
    """The first ``words`` columns are words, to the left; the others are figures, to the right."""
    lines = [head, (*["---"] * words, *["---:"] * (len(head) - words)), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def pages(mean_ms: float, failed: int, alone_ms: float | None) -> str:
    """How long pages took, against pages alone where there is something to compare with."""
    if not math.isfinite(mean_ms):
        return "none came"
    against = f", × {mean_ms / alone_ms:.2f}" if alone_ms is not None else ""
    missing = f", {failed} never came" if failed else ""
    return f"{mean_ms:.0f} ms{against}{missing}"
