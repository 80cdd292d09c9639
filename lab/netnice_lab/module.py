# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The kernel module under test: the shipped cores and their shim, compiled for the guest's kernel."""

import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from netnice_lab import kernel, mutants, places
from netnice_lab.errors import LabError

SHIM = places.SHIMS / "sender"
CORES = places.CORES
OBJECT = "tcp_netnice.ko"


@dataclass(frozen=True)
class Module:
    """A compiled module and a name for its content."""

    key: str
    path: Path


def sources() -> list[Path]:
    """Every file that could change the module: what its sources include is not for us to know."""
    files = places.sources(CORES, places.SHIMS)
    if not files:
        raise LabError(f"no sender sources in {CORES} and {SHIM}", "the clone is incomplete", "git checkout .")
    return files


def build(broken: tuple[str, ...] = ()) -> Module:
    """Compile the module, or one with deliberately broken cores, unless cached."""
    base = kernel.require()
    changes = [mutants.find(name) for name in broken]
    key = places.digest_tree(sources(), base.key, *(repr(change) for change in changes))
    home = places.cache() / "modules" / key
    if not (home / OBJECT).exists():
        compile_into(home, base, changes)
    # results belong to the module, not to the wording of its sources
    return Module(places.digest((home / OBJECT).read_bytes()), home / OBJECT)


def compile_into(home: Path, base: kernel.Kernel, changes: list[mutants.Mutant]) -> None:
    """Compile a copy, at a place that two concurrent builds do not share."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="part-", dir=home.parent) as scratch:
        work = Path(scratch)
        for file in sources():
            target = work / file.relative_to(places.CLONE)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        for change in changes:
            change.apply(work)
        directory = work / "transport" / "sender" / "module"
        mapping = f"-fdebug-prefix-map={work}=."
        kernel.run(
            ["nice", "make", "-s", "-C", str(base.tree), "ARCH=um", f"M={directory}", f"KCFLAGS={mapping}", "modules"],
            work,
            kernel.environment(),
        )
        built = work / "built"
        built.mkdir()
        kernel.run(["strip", "-g", "-o", str(built / OBJECT), str(directory / OBJECT)], work)
        if not home.exists():
            built.rename(home)


TELL_PARAMETERS = """
#include <stdio.h>
#include "sender/table.h"
static const u32 rows[][NN_PARAM_COUNT] = NN_PARAM_ROWS;
int main(void)
{
#define TELL_NAME(name, unit, why) puts("name " #name);
	NN_PARAMS(TELL_NAME)
#define TELL_ROW(name, ...) printf("row " #name); \\
	for (int i = 0; i < NN_PARAM_COUNT; i++) printf(" %u", rows[NN_A_##name][i]); puts("");
	NN_ALGORITHMS(TELL_ROW)
}
"""


@dataclass(frozen=True)
class Parameters:
    """The rows of algorithms/sender/table.h: names, order and defaults of every algorithm's parameters."""

    names: tuple[str, ...]
    rows: dict[str, tuple[int, ...]]

    @classmethod
    @cache
    def read(cls) -> "Parameters":
        """Ask the C sources themselves, through the compiler, so that nothing here can disagree with them."""
        with tempfile.TemporaryDirectory() as scratch:
            program = Path(scratch) / "parameters"
            (source := program.with_suffix(".c")).write_text(TELL_PARAMETERS)
            kernel.run(["gcc", "-w", f"-I{CORES}", "-o", str(program), str(source)], Path(scratch))
            lines = [line.split() for line in kernel.run([str(program)], Path(scratch)).splitlines()]
        names = tuple(words[1] for words in lines if words[0] == "name")
        rows = {w[1]: tuple(int(value) for value in w[2:]) for w in lines if w[0] == "row"}
        return cls(names, rows)

    def row(self, algorithm: str, changes: dict[str, int]) -> str:
        """One module parameter: the row of an algorithm with some values changed."""
        if algorithm not in self.rows:
            raise LabError(f"unknown algorithm '{algorithm}'", "", f"choose one of {', '.join(self.rows)}")
        if unknown := sorted(set(changes) - set(self.names)):
            raise LabError(
                f"{algorithm} has no parameter '{unknown[0]}'",
                "",
                f"choose one of {', '.join(self.names)}",
            )
        values = dict(zip(self.names, self.rows[algorithm], strict=True)) | changes
        return f"{algorithm}={','.join(str(values[name]) for name in self.names)}"
