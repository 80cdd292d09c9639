# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Deliberately broken cores: a check that does not notice them is worth nothing."""

from dataclasses import dataclass
from pathlib import Path

from netnice_lab.errors import LabError


@dataclass(frozen=True)
class Mutant:
    """A change to a copy of one source file."""

    name: str
    breaks: str
    file: str
    old: str
    new: str

    def apply(self, tree: Path) -> None:
        """Change the copy; a text that is not there exactly once means that the cores have moved on."""
        path = tree / self.file
        text = path.read_text()
        if text.count(self.old) != 1:
            raise LabError(
                f"the mutant {self.name} does not fit {self.file}",
                f"'{self.old}' is there {text.count(self.old)} times",
                "adapt lab/netnice_lab/mutants.py to the cores",
            )
        path.write_text(text.replace(self.old, self.new))


MUTANTS = {
    m.name: m
    for m in (
        Mutant(
            "threshold-ignored",
            "queueing delay is never congestion",
            "algorithms/sender/netnice.h",
            "netnice_is_slow(flow, p, rtt)",
            "false",
        ),
        Mutant(
            "floor-of-one",
            "the window does not fall below one segment",
            "algorithms/common/flow.h",
            "flow->win.floor = nn_max(p[NN_P_min_window], 1);",
            "flow->win.floor = 1 << NN_SHIFT;",
        ),
        Mutant(
            "acks-counted",
            "ACKs that met congestion are compared with the window in segments",
            "algorithms/common/flow.h",
            "round->slow = nn_add_saturating(round->slow, ack->acked);",
            "round->slow += 1;",
        ),
    )
}


def find(name: str) -> Mutant:
    """The mutant of a name."""
    if name not in MUTANTS:
        raise LabError(f"unknown mutant '{name}'", "", f"choose one of {', '.join(MUTANTS)}")
    return MUTANTS[name]
