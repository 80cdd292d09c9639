# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Deliberately broken cores: a check that does not notice them is worth nothing."""

from dataclasses import dataclass
from pathlib import Path

from netnice_lab.errors import LabError


@dataclass(frozen=True)
class Mutant:
    """A change to a copy of one source file; `file` may be a folder, in one of whose files the text is."""

    name: str
    breaks: str
    file: str
    old: str
    new: str

    def places(self, tree: Path) -> list[Path]:
        """Every file with the text, as often as it has it."""
        top = tree / self.file
        files = [top] if top.is_file() else sorted(file for file in top.rglob("*.[ch]") if file.is_file())
        return [file for file in files for _ in range(file.read_text().count(self.old))]

    def apply(self, tree: Path) -> Path:
        """Change the copy; a text that is not there exactly once means that the cores have moved on."""
        found = self.places(tree)
        if len(found) != 1:
            raise LabError(
                f"the mutant {self.name} does not fit {self.file}",
                f"'{self.old}' is there {len(found)} times",
                "adapt the mutant to the sources",
            )
        found[0].write_text(found[0].read_text().replace(self.old, self.new))
        return found[0]


MUTANTS = {
    m.name: m
    for m in (
        Mutant(
            "threshold-ignored",
            "queueing delay is never congestion",
            "algorithms/sender",
            "nice_is_slow(flow, p, ack->rtt_us)",
            "false",
        ),
        Mutant(
            "floor-of-one",
            "the window does not fall below one segment",
            "algorithms/common",
            "flow->win.floor = nn_max(p[NN_P_min_window], 1);",
            "flow->win.floor = 1 << NN_SHIFT;",
        ),
        Mutant(
            "acks-counted",
            "ACKs that met congestion are compared with the window in segments",
            "algorithms/common",
            "round->slow = nn_add_saturating(round->slow, ack->acked & (0u - slow));",
            "round->slow += slow;",
        ),
        Mutant(
            "rounds-of-one-ack",
            "a round ends with each ACK: the shim forgets when a segment was sent",
            "transport/sender",
            "ack.sent_delivered = rs->prior_delivered;",
            "ack.sent_delivered = ack.delivered;",
        ),
        Mutant(
            "no-siblings",
            "flows of one host to one place do not know of each other",
            "algorithms/siblings",
            ".flows = (u32)flows,",
            ".flows = 1,",
        ),
        Mutant(
            "no-look",
            "below one segment a level stays there",
            "algorithms/sender",
            "return ack->now_us - own->since_us >= silence",
            "return p == 0 && ack->now_us - own->since_us >= silence",
        ),
    )
}


def find(name: str) -> Mutant:
    """The mutant of a name."""
    if name not in MUTANTS:
        raise LabError(f"unknown mutant '{name}'", "", f"choose one of {', '.join(MUTANTS)}")
    return MUTANTS[name]
