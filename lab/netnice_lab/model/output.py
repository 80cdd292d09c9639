# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a run gave, and what a scenario asks of its samples: the experiment's own numbers beside those of every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from netnice_lab import places

if TYPE_CHECKING:
    import pandas as pd

Groups = Mapping[str, list[int]]
"""The numbers of the flows, or of the document clients, of each group."""


def nothing() -> pd.DataFrame:
    """A run without these."""
    import pandas as pd

    return pd.DataFrame()


@dataclass(frozen=True)
class Sampled:
    """The samples of one run: of its flows, of its receiver; `end`: when the run ended, seconds.

    `documents` has a row a document, `readers` the numbers of the clients of each named group of them. `own`: the first
    words of the receiver's core; `granted`: the bytes that each flow's sender may have on the way.
    """

    groups: Groups
    end: float
    flow: pd.DataFrame
    receiver: pd.DataFrame
    documents: pd.DataFrame = field(default_factory=nothing)
    readers: Groups = field(default_factory=dict)
    own: pd.DataFrame = field(default_factory=nothing)
    granted: pd.DataFrame = field(default_factory=nothing)


class Measure(Protocol):
    """A frozen value with its own numbers in it; what it gives is named in measures/units.py."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """The metrics of a run."""
        ...


@dataclass(frozen=True)
class Output:
    """What a guest wrote, by file name, its real and CPU seconds, and the last words of a guest that died before."""

    files: dict[str, str]
    seconds: float
    cpu: float
    key: str
    deaths: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The same for bit-identical results, whatever the algorithms are called: a row may be renamed."""
        files = self.files | {"flows.csv": without_column(self.files.get("flows.csv", ""), "cc")}
        return places.digest(*(f"{name}\n{text}" for name, text in sorted(files.items())))


def without_column(text: str, name: str) -> str:
    """A table in CSV without one of its columns."""
    rows = [line.split(",") for line in text.splitlines()]
    if not rows or name not in rows[0]:
        return text
    at = rows[0].index(name)
    return "".join(",".join(row[:at] + row[at + 1 :]) + "\n" for row in rows)
