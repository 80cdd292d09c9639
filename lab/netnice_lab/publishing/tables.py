# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tables of the documentation, made from the runs: what stands between two marks of a file is written anew.

`<!-- table SOURCE NAME -->` … `<!-- end -->`, from what is recorded:

- SOURCE is an experiment, and NAME one of its tables.
- SOURCE is a folder of experiments, and NAME a module of it with a `summary` of several experiments.
- SOURCE is `claims`, and NAME a paper's claims, their `summary` or the index of their `figures`.
"""

import importlib
import math
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.judgement import bars, claims
from netnice_lab.model.experiment import Number, Results, Summary, Table, select
from netnice_lab.publishing import figures, papers

BLOCK = re.compile(r"(<!-- table ([\w-]+) ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def text(number: Number, rows: pd.DataFrame) -> str:
    """The mean over the runs of a cell, bold where it misses its bound."""
    if rows.empty or number.metric not in rows or rows[number.metric].isna().all():
        return "–"
    mean = float(rows[number.metric].mean())
    missed = (number.least is not None and mean < number.least) or (number.most is not None and mean > number.most)
    shown = f"{mean:.{number.digits}f}"
    if number.beside is not None:
        half = bars.half_interval(list(rows[number.metric].dropna()))
        missed = missed and abs(mean - number.beside) > half
        shown += "" if math.isnan(half) else f"±{half:.{number.digits}f}"
    return f"**{shown}**" if missed else shown


def markdown(table: Table, frame: pd.DataFrame) -> str:
    """Rows by some keys, a column a value of another."""
    frame = select(frame, table.only)
    columns = list(frame[table.column].drop_duplicates())
    lines = [
        "| " + " | ".join([*table.rows, *(str(column) for column in columns)]) + " |",
        "| " + " | ".join(["---"] * (len(table.rows) + len(columns))) + " |",
    ]
    for _, rows in frame.groupby(list(table.rows), sort=False):
        head = [f"{rows[key].iloc[0]:g}" if isinstance(rows[key].iloc[0], float) else str(rows[key].iloc[0])
                for key in table.rows]  # fmt: skip
        found = [
            " · ".join(text(number, rows[rows[table.column] == column]) for number in table.numbers)
            for column in columns
        ]
        lines.append("| " + " | ".join([*head, *found]) + " |")
    return "\n".join(lines) + "\n"


def summary(folder: str, name: str) -> Summary:
    """The summary of experiments/FOLDER/NAME.py."""
    try:
        found: Summary = importlib.import_module(f"experiments.{folder}.{name}").summary
    except (ImportError, AttributeError) as error:
        raise LabError(
            f"no table '{folder} {name}'", str(error), "name an experiment and its table, or a folder and its summary"
        ) from error
    return found


def experiments_of(source: str, name: str) -> Sequence[str]:
    """The experiments to run for a table."""
    if source == claims.NAME:
        return ()
    return summary(source, name).experiments if (places.EXPERIMENTS / source).is_dir() else (source,)


def made(source: str, name: str, results: Results) -> str:
    """A table's lines."""
    if source == claims.NAME:
        return figures.made(experiments_of) if name == figures.NAME else papers.made(name)
    if source not in results:
        found = summary(source, name)
        return found.render({one: results[one] for one in found.experiments})
    experiment, frame = results[source]
    tables = {table.name: table for table in experiment.tables}
    if name not in tables:
        raise LabError(f"{source} has no table '{name}'", "", f"choose one of {', '.join(tables)}")
    return markdown(tables[name], experiment.derive(frame) if experiment.derive else frame)


def wanted(file: Path) -> list[str]:
    """The experiments that a file's tables are made of."""
    blocks = list(BLOCK.finditer(file.read_text()))
    found = [one for match in blocks for one in experiments_of(match[2], match[3])]
    if not blocks:
        raise LabError(f"{file} has no tables", "", "mark them: <!-- table EXPERIMENT TABLE --> … <!-- end -->")
    return list(dict.fromkeys(found))


def rewrite(file: Path, results: Results) -> None:
    """Make every table of a file again."""
    file.write_text(BLOCK.sub(lambda match: match[1] + made(match[2], match[3], results) + match[4], file.read_text()))
