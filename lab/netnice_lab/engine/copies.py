# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A copy of the tree that may be changed and compiled: what others have published is taken as compiled already."""

import os
import shutil
from pathlib import Path

from netnice_lab import places
from netnice_lab.errors import run

ROOMS = ("algorithms", "transport", "crates", "apps", "bindings", "lab", "demo", "testbed")
FILES = ("Cargo.toml", "Cargo.lock", "Makefile")
KEPT = ("deps", "build", ".fingerprint")


def link_or_copy(source: str, target: str) -> None:
    """Nothing of it is written to, so one copy is enough where both are on one file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


class Copy:
    """What git knows of, with a target folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.top, self.target = folder / "tree", folder / "target"
        for room in ROOMS:
            shutil.copytree(places.CLONE / room, self.top / room, ignore=shutil.ignore_patterns("__pycache__"))
        for file in FILES:
            shutil.copy(places.CLONE / file, self.top)
        self._link_dependencies()

    @property
    def programs(self) -> Path:
        """Where :meth:`build` puts programs."""
        return self.target / "release"

    @property
    def environment(self) -> dict[str, str]:
        """What a process in the copy is to have."""
        return os.environ | {"CARGO_TARGET_DIR": str(self.target)}

    def build(self, *packages: str) -> None:
        """Compiles these crates."""
        chosen = [word for package in packages for word in ("-p", package)]
        run(["cargo", "build", "--release", "--locked", "--offline", *chosen], self.top, self.environment)

    def _link_dependencies(self) -> None:
        unlike = shutil.ignore_patterns("*netnice*", "incremental")
        compiled = Path(os.environ.get("CARGO_TARGET_DIR") or places.CLONE / "target") / "release"
        for folder in (compiled / name for name in KEPT):
            if folder.is_dir():
                shutil.copytree(folder, self.programs / folder.name, copy_function=link_or_copy, ignore=unlike)
