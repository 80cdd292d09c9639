# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""C files that include each other in a circle: a guard makes them compile, in one order only."""

import os
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
SUFFIXES = frozenset({".h", ".c", ".cc"})


def includes(root: Path, folders: tuple[str, ...]) -> dict[str, set[str]]:
    """Of each C file below the folders, those of them that it includes."""
    files = {
        file.relative_to(root).as_posix(): file
        for folder in folders
        for file in (root / folder).rglob("*")
        if file.suffix in SUFFIXES
    }
    return {
        name: {beside(name, path) for path in INCLUDE.findall(file.read_text())} & files.keys()
        for name, file in files.items()
    }


def beside(name: str, path: str) -> str:
    """Where an include of a file leads to."""
    return os.path.normpath(Path(name).parent / path)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One circle, the first again at its end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []
