# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Cells: what they are called, and their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from netnice_lab.model.experiment import Cell, Value

if TYPE_CHECKING:
    import pandas as pd


def describe(cell: Cell) -> str:
    """A cell in words."""
    return " ".join(f"{key}={value}" for key, value in cell.items())


def select(frame: pd.DataFrame, cell: Mapping[str, Value]) -> pd.DataFrame:
    """The rows of a cell; keys the cell does not name may have any value."""
    for key, value in cell.items():
        frame = frame[frame[key] == value]
    return frame
