# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A copy of the tree that a test may change and build: what others have published is taken as compiled already."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from netnice_lab import places
from netnice_lab.engine import kernel

TOP = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or TOP / "target")
KEPT = ("deps", "build", ".fingerprint")


def link_or_copy(source: str, target: str) -> None:
    """Nothing of it is written to, so one copy is enough where both are on one file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


class Clone:
    """A copy of what git knows of, with caches of its own."""

    def __init__(self, folder: Path) -> None:
        self.top, self._target, self._cache = folder / "tree", folder / "target", folder / "cache"
        self._copy_sources()
        self._link_dependencies()
        self._link_kernel()

    @property
    def programs(self) -> Path:
        """Where :meth:`build` puts programs."""
        return self._target / "release"

    def add(self, file: str, text: str) -> None:
        """A new file."""
        path = self.top / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def add_row(self, folder: str, name: str, row: str) -> None:
        """A row after the last one of a folder's table, and the #include of its file."""
        path = self.top / folder / "table.h"
        text, found = re.subn(r"(\n\tX\(.*\))\n(?!\t)", rf"\1 \\\n\t{row}\n", path.read_text())
        assert found == 1, f"{path} has {found} lists of rows"
        path.write_text(text.replace("#include ", f'#include "{name}.h"\n#include ', 1))

    def add_subcommand(self, module: str, arguments: str) -> None:
        """A row after the last of netnicectl's subcommands."""
        path = self.top / "crates/netnicectl/src/commands.rs"
        text, found = re.subn(r"(\ncommands! \{\n[^}]*)\}", rf"\1    {module}::{arguments},\n}}", path.read_text())
        assert found == 1, f"{path} has {found} tables"
        path.write_text(text)

    def build(self, *packages: str) -> None:
        """Compiles these crates."""
        chosen = [word for package in packages for word in ("-p", package)]
        self._run("cargo", "build", "--release", "--locked", "--offline", *chosen)

    def lab(self, *words: str) -> str:
        """What netnice-lab prints; its kernel is the one that is built already."""
        return self._run(sys.executable, "-m", "netnice_lab", *words)

    def check(self, experiment: str) -> bool:
        """Do an experiment's quick cells give what is recorded, with the receiver of this tree?"""
        self.build("netnice-receiver")
        done = self._call(sys.executable, "-m", "netnice_lab", "check", "--again", experiment)
        assert done.stdout.rstrip().endswith("failed"), f"it did not come to an end: {done.stdout}{done.stderr}"
        return done.returncode == 0

    def _run(self, *words: str) -> str:
        done = self._call(*words)
        assert done.returncode == 0, f"{words} ended with {done.returncode}: {done.stderr}"
        return done.stdout

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "CARGO_TARGET_DIR": str(self._target),
            "NETNICE_BIN": str(self.programs),
            "XDG_CACHE_HOME": str(self._cache),
            "PYTHONPATH": f"{self.top}/lab:{self.top}",
        }
        return subprocess.run(
            words, cwd=self.top, env=os.environ | environment, capture_output=True, text=True, timeout=280, check=False
        )

    def _copy_sources(self) -> None:
        for room in ("algorithms", "transport", "crates", "apps", "bindings", "lab", "demo", "testbed"):
            shutil.copytree(TOP / room, self.top / room, ignore=shutil.ignore_patterns("__pycache__"))
        for file in ("Cargo.toml", "Cargo.lock", "Makefile"):
            shutil.copy(TOP / file, self.top)

    def _link_dependencies(self) -> None:
        unlike = shutil.ignore_patterns("*netnice*", "incremental")
        for folder in (TARGET / "release" / name for name in KEPT):
            if folder.is_dir():
                shutil.copytree(folder, self.programs / folder.name, copy_function=link_or_copy, ignore=unlike)

    def _link_kernel(self) -> None:
        found = kernel.require()
        cache = self._cache / "netnice" / "lab"
        cache.mkdir(parents=True)
        (cache / found.key).symlink_to(places.cache() / found.key)
