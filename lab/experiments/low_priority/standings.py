# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The report's figure 4 as a table: of a flavour's runs beside the other four, the part in which it has more."""

from __future__ import annotations

from experiments.low_priority.access import REPORTED
from experiments.low_priority.figures import ranking
from netnice_lab.model.experiment import Results, Summary

FIGURE = "lbe-fig4"
PAIRS = {f"{one}:{other}" for one in REPORTED for other in REPORTED}


def table(results: Results) -> str:
    """A line a flavour, the lowest first; beside each other its part of the runs that are won over it."""
    _, frame = results[FIGURE]
    rows = ranking(frame[frame.pair.isin(PAIRS)])
    parts = rows.set_index(["first", "second"]).part.to_dict()
    lines = [f"| of its runs | wins | {' | '.join(f'over {name}' for name in REPORTED)} |"]
    lines.append("| " + " | ".join(["---"] * (len(REPORTED) + 2)) + " |")
    for name, won in rows.groupby("first", sort=False).part.sum().items():
        over = [f"{parts[name, other]:.2f}" if (name, other) in parts else "–" for other in REPORTED]
        lines.append(f"| {name} | {won:.2f} | {' | '.join(over)} |")
    return "\n".join(lines) + "\n"


summary = Summary((FIGURE,), table)
