# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a guest executes beside its kernel: process 1, the traffic, the module with the cores, our programs."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from netnice_lab import places
from netnice_lab.engine import changes, kernel
from netnice_lab.engine.copies import Copy
from netnice_lab.engine.faults import Mutant
from netnice_lab.errors import LabError, run

FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-static"]
MODULE = "tcp_netnice.ko"
RECEIVER = "netnice-receiver"
SITE = ("netnice-prefetch", "netnice-replay")


@dataclass(frozen=True)
class Programs:
    """The kernel, the module and the guest's own programs; compiled once and cached under their sources' hash."""

    kernel: kernel.Kernel
    module: Path
    init: Path
    traffic: Path

    @classmethod
    @cache
    def find(cls, changes: tuple[str, ...] = ()) -> "Programs":
        """The cached kernel, and what belongs to it compiled if need be, with faults or ablations in the cores."""
        guest = guest_programs()
        return cls(kernel.require(), module(changes), guest / "init", guest / "traffic")


@contextmanager
def made_aside(home: Path) -> Iterator[Path]:
    """A folder to compile in; `built` in it becomes `home`: two builds at a time do not disturb each other."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="part-", dir=home.parent) as scratch:
        (Path(scratch) / "built").mkdir()
        yield Path(scratch)
        try:
            (Path(scratch) / "built").rename(home)
        except OSError:
            if not home.exists():  # else another build was faster
                raise


def guest_programs() -> Path:
    """The folder of process 1 and the traffic: statically linked C, which reads the receiver's state."""
    files = places.sources(places.GUEST_SOURCES)
    home = places.cache() / "guests" / places.digest_tree([*files, *sources()], *FLAGS)
    if not (home / "traffic").exists():
        if shutil.which("gcc") is None:
            raise LabError("no C compiler", "gcc is not installed", "apt-get install gcc libc6-dev")
        traffic = sorted(f.name for f in files if f.suffix == ".c" and f.name != "init.c")
        with made_aside(home) as work:
            for program, names in (("init", ["init.c"]), ("traffic", traffic)):
                run(["gcc", *FLAGS, "-o", str(work / "built" / program), *names], places.GUEST_SOURCES)
    return home


def sources() -> list[Path]:
    """Every file that could change the module."""
    files = places.sources(places.CORES, places.SHIMS)
    if not files:
        raise LabError(f"no sources in {places.CORES} and {places.SHIMS}", "the clone is incomplete", "git checkout .")
    return files


def module(changed: tuple[str, ...] = ()) -> Path:
    """The shipped cores and their shim as a module for the guest's kernel."""
    base = kernel.require()
    found = [changes.find(name) for name in changed]
    home = places.cache() / "modules" / places.digest_tree(sources(), base.key, *map(repr, found))
    if not (home / MODULE).exists():
        with made_aside(home) as work:
            compile_module(work, base, found)
    return home / MODULE


def compile_module(work: Path, base: kernel.Kernel, found: list[Mutant]) -> None:
    """Compile a copy of the sources."""
    for file in sources():
        target = work / file.relative_to(places.CLONE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    for change in found:
        change.apply(work)
    folder = work / "transport" / "sender" / "module"
    flags = f"KCFLAGS=-fdebug-prefix-map={work}=."
    make = ["nice", "make", "-s", "-C", str(base.tree), "ARCH=um", f"M={folder}", flags, "modules"]
    run(make, work, kernel.environment())
    run(["strip", "-g", "-o", str(work / "built" / MODULE), str(folder / MODULE)], work)


def receiver(changed: tuple[str, ...] = ()) -> Path:
    """What 'make build' has left, or with changes what a copy of the tree makes."""
    if not changed:
        return project(RECEIVER)
    found = [changes.find(name) for name in changed]
    files = places.sources(places.CORES, places.SHIMS, places.CLONE / "crates")
    home = places.cache() / "receivers" / places.digest_tree(files, *map(repr, found))
    home.parent.mkdir(exist_ok=True)
    with (home.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a minute of all processors: the second to want it waits for it
        if not (home / RECEIVER).exists():
            with made_aside(home) as work:
                copy = Copy(work)
                for change in found:
                    change.apply(copy.top)
                copy.build(RECEIVER)
                shutil.copy(copy.programs / RECEIVER, work / "built")
    return home / RECEIVER


def project(name: str) -> Path:
    """One of the project's own programs, as 'make build' left it; refused if it is older than its sources."""
    program = Path(os.environ.get("NETNICE_BIN") or places.CLONE / "target" / "release") / name
    if not program.exists():
        raise LabError(f"there is no {name}", f"{program.parent} has none", "make build")
    listed = program.with_name(f"{name}.d")  # cargo's list of the sources it was made of
    files = [Path(word) for word in listed.read_text().split(": ", 1)[1].split()] if listed.exists() else []
    made = program.stat().st_mtime
    if newer := [file for file in files if file.exists() and file.stat().st_mtime > made]:
        raise LabError(f"{name} is older than its sources", f"{newer[0]} has changed since", "make build")
    return program
