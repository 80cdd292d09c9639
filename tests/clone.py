# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A copy of the tree to which a test adds what a newcomer would, with a cache of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from netnice_lab import places
from netnice_lab.engine import kernel
from netnice_lab.engine.copies import Copy


class Clone(Copy):
    """The copy; its lab's kernel is the one that is built already."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._cache = folder / "cache"
        found = kernel.require()
        cache = self._cache / "netnice" / "lab"
        cache.mkdir(parents=True)
        (cache / found.key).symlink_to(places.cache() / found.key)

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

    def lab(self, *words: str) -> str:
        """What netnice-lab prints."""
        environment = {
            "NETNICE_BIN": str(self.programs),
            "XDG_CACHE_HOME": str(self._cache),
            "PYTHONPATH": f"{self.top}/lab:{self.top}",
        }
        done = subprocess.run(
            [sys.executable, "-m", "netnice_lab", *words], cwd=self.top, env={**self.environment, **environment},
            capture_output=True, text=True, timeout=280, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words} ended with {done.returncode}: {done.stderr}"
        return done.stdout
