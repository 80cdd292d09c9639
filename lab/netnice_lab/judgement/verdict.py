# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What becomes of a pinned number or a bar."""

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """How a line of a check begins; tests/run reads those of known misses."""

    HOLDS = "ok    "
    FAILED = "FAILED"
    KNOWN_MISS = "known miss:"


@dataclass(frozen=True)
class Verdict:
    """One pinned number or bar: what it was, what it is, what it may be."""

    where: str
    metric: str
    old: float | None
    new: float
    low: float | None
    high: float | None
    outcome: Outcome
    note: str = ""

    @property
    def failed(self) -> bool:
        """Is it something that should hold and does not, or that does and should be said to?"""
        return self.outcome is Outcome.FAILED

    def line(self) -> str:
        """What a check says of it."""
        old = "" if self.old is None else f"old {self.old:.4g} "
        low = "-∞" if self.low is None else f"{self.low:.4g}"
        high = "∞" if self.high is None else f"{self.high:.4g}"
        return (
            f"{self.outcome.value} {self.where} {self.metric}: {old}new {self.new:.4g} bound {low}…{high} {self.note}"
        ).rstrip()
