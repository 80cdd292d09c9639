# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The parameters of the algorithms under test, as the C sources have them."""

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from netnice_lab import places
from netnice_lab.errors import LabError, run

TELL_PARAMETERS = """
#include <stdio.h>
#include "sender/table.h"
static const u32 rows[][NN_PARAM_COUNT] = NN_PARAM_ROWS;
int main(void)
{
#define TELL_NAME(name, unit, least, most, ...) printf("name " #name " %u %u\\n", (unsigned)least, (unsigned)most);
	NN_PARAMS(TELL_NAME)
#define TELL_ROW(name, ...) printf("row " #name); \\
	for (int i = 0; i < NN_PARAM_COUNT; i++) printf(" %u", rows[NN_A_##name][i]); puts("");
	NN_ALGORITHMS(TELL_ROW)
}
"""


@dataclass(frozen=True)
class Parameters:
    """The rows of algorithms/sender/table.h: names, order, ranges and defaults of every algorithm's parameters."""

    names: tuple[str, ...]
    ranges: dict[str, tuple[int, int]]
    rows: dict[str, tuple[int, ...]]

    @classmethod
    @cache
    def read(cls) -> "Parameters":
        """Ask the C sources themselves, through the compiler, so that nothing here can disagree with them."""
        with tempfile.TemporaryDirectory() as scratch:
            program = Path(scratch) / "parameters"
            (source := program.with_suffix(".c")).write_text(TELL_PARAMETERS)
            run(["gcc", "-w", f"-I{places.CORES}", "-o", str(program), str(source)], Path(scratch))
            lines = [line.split() for line in run([str(program)], Path(scratch)).splitlines()]
        ranges = {words[1]: (int(words[2]), int(words[3])) for words in lines if words[0] == "name"}
        rows = {w[1]: tuple(int(value) for value in w[2:]) for w in lines if w[0] == "row"}
        return cls(tuple(ranges), ranges, rows)

    def row(self, algorithm: str, changes: dict[str, int]) -> tuple[int, ...]:
        """The row of an algorithm with some values changed."""
        self.check(algorithm, changes)
        values = dict(zip(self.names, self.rows[algorithm], strict=True)) | changes
        return tuple(values[name] for name in self.names)

    def setting(self, algorithm: str, changes: dict[str, int]) -> str:
        """The module's parameter that makes these changes; the module refuses what is out of range."""
        self.check(algorithm, changes)
        return f"{algorithm}={','.join(f'{name}={value}' for name, value in changes.items())}"

    def check(self, algorithm: str, changes: dict[str, int]) -> None:
        """There is such an algorithm, and it has these parameters."""
        if algorithm not in self.rows:
            raise LabError(f"unknown algorithm '{algorithm}'", "", f"choose one of {', '.join(self.rows)}")
        if unknown := sorted(set(changes) - set(self.names)):
            raise LabError(
                f"{algorithm} has no parameter '{unknown[0]}'",
                "",
                f"choose one of {', '.join(self.names)}",
            )

    def within(self, algorithm: str, changes: dict[str, int]) -> dict[str, int]:
        """These changes, if the algorithm takes them."""
        self.check(algorithm, changes)
        for name, value in changes.items():
            least, most = self.ranges[name]
            if not least <= value <= most:
                raise LabError(f"{algorithm}: {name}={value}", f"it takes {least} to {most}", "choose one of those")
        return changes
