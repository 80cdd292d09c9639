# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tables of the documentation, made from the runs: what stands between two marks of a file is written anew."""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from netnice_lab import pins
from netnice_lab.errors import LabError
from netnice_lab.experiment import Experiment, Number, Table

BLOCK = re.compile(r"(<!-- table ([\w-]+) ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def text(number: Number, rows: pd.DataFrame) -> str:
    """The mean over the runs of a cell, bold where it misses its bound."""
    if rows.empty or number.metric not in rows or rows[number.metric].isna().all():
        return "–"
    mean = float(rows[number.metric].mean())
    missed = (number.least is not None and mean < number.least) or (number.most is not None and mean > number.most)
    shown = f"{mean:.{number.digits}f}"
    return f"**{shown}**" if missed else shown


def markdown(table: Table, frame: pd.DataFrame) -> str:
    """Rows by some keys, a column a value of another."""
    frame = pins.select(frame, table.only)
    columns = list(frame[table.column].drop_duplicates())
    lines = [
        "| " + " | ".join([*table.rows, *(str(column) for column in columns)]) + " |",
        "| " + " | ".join(["---"] * (len(table.rows) + len(columns))) + " |",
    ]
    for _, rows in frame.groupby(list(table.rows), sort=False):
        head = [f"{rows[key].iloc[0]:g}" if isinstance(rows[key].iloc[0], float) else str(rows[key].iloc[0])
                for key in table.rows]  # fmt: skip
        cells = [
            " · ".join(text(number, rows[rows[table.column] == column]) for number in table.numbers)
            for column in columns
        ]
        lines.append("| " + " | ".join([*head, *cells]) + " |")
    return "\n".join(lines) + "\n"


def wanted(file: Path) -> list[str]:
    """The experiments that a file has tables of."""
    found = [match[2] for match in BLOCK.finditer(file.read_text())]
    if not found:
        raise LabError(f"{file} has no tables", "", "mark them: <!-- table EXPERIMENT TABLE --> … <!-- end -->")
    return list(dict.fromkeys(found))


def rewrite(file: Path, results: Mapping[str, tuple[Experiment, pd.DataFrame]]) -> None:
    """Make every table of a file again."""

    def made(match: re.Match[str]) -> str:
        experiment, frame = results[match[2]]
        tables = {table.name: table for table in experiment.tables}
        if match[3] not in tables:
            raise LabError(f"{match[2]} has no table '{match[3]}'", "", f"choose one of {', '.join(tables)}")
        rows = experiment.derive(frame) if experiment.derive else frame
        return match[1] + markdown(tables[match[3]], rows) + match[4]

    file.write_text(BLOCK.sub(made, file.read_text()))
