# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a scenario asks of its samples, as a value: the experiment's own numbers beside those of every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pandas as pd

Groups = Mapping[str, list[int]]
"""The numbers of the flows, or of the document clients, of each group."""


def no_documents() -> pd.DataFrame:
    """A run without any."""
    import pandas as pd

    return pd.DataFrame()


@dataclass(frozen=True)
class Sampled:
    """The samples of one run: of its flows, of its receiver; `end`: when the run ended, seconds.

    `documents` has a row a document, `readers` the numbers of the clients of each named group of them.
    """

    groups: Groups
    end: float
    flow: pd.DataFrame
    receiver: pd.DataFrame
    documents: pd.DataFrame = field(default_factory=no_documents)
    readers: Groups = field(default_factory=dict)


class Measure(Protocol):
    """A frozen value with its own numbers in it; what it gives is named in measures/units.py."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """The metrics of a run."""
        ...
