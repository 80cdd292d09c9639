# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The guest's own programs: process 1 and the traffic, statically linked C."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.tool import run

FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-static"]


@dataclass(frozen=True)
class Guest:
    """The compiled programs and a name for their content."""

    key: str
    init: Path
    traffic: Path


def build() -> Guest:
    """Compile the programs unless cached."""
    files = places.sources(places.GUEST_SOURCES)
    # it reads the receiver's state, which is declared with the cores
    key = places.digest_tree([*files, *places.sources(places.CORES, places.SHIMS)], *FLAGS)
    home = places.cache() / "guests" / key
    if not (home / "traffic").exists():
        if shutil.which("gcc") is None:
            raise LabError("no C compiler", "gcc is not installed", "apt-get install gcc libc6-dev")
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="part-", dir=home.parent) as scratch:
            work = Path(scratch) / "built"
            work.mkdir()
            traffic = sorted(f.name for f in files if f.suffix == ".c" and f.name != "init.c")
            for program, names in (("init", ["init.c"]), ("traffic", traffic)):
                run(["gcc", *FLAGS, "-o", str(work / program), *names], places.GUEST_SOURCES)
            if not home.exists():
                work.rename(home)
    # results belong to the programs, not to the wording of their sources
    content = places.digest((home / "init").read_bytes(), (home / "traffic").read_bytes())
    return Guest(content, home / "init", home / "traffic")
