# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The kernel module under test: the shipped cores and their shim, compiled for the guest's kernel."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from netnice_lab import places, tool
from netnice_lab.engine import ablations, kernel, mutants
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
    changes = [ablations.ABLATIONS.get(name) or mutants.find(name) for name in broken]
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
        tool.run(
            ["nice", "make", "-s", "-C", str(base.tree), "ARCH=um", f"M={directory}", f"KCFLAGS={mapping}", "modules"],
            work,
            kernel.environment(),
        )
        built = work / "built"
        built.mkdir()
        tool.run(["strip", "-g", "-o", str(built / OBJECT), str(directory / OBJECT)], work)
        if not home.exists():
            built.rename(home)
