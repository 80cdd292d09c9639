# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Rules of the tree: licence lines, file sizes, nothing unfinished, no path of one machine. Prints each breach."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
SOURCE = {".c", ".cc", ".h", ".rs", ".py", ".sh"}
#: Lines of a source file, by the longest prefix of its path.
MOST_LINES = {"": 400, "algorithms/": 250, "algorithms/sender/nice.h": 120}
#: What a reader of README.md sees without scrolling, and how wide a table may be there.
FIRST_SCREEN, MOST_COLUMNS = 40, 4
SPDX = re.compile(r"SPDX-License-Identifier: (.+?)(?: \*/)?$", re.MULTILINE)
# Spelled in pieces, so that this file keeps its own rules.
NOWHERE = {
    "marked as unfinished": re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b"),
    "a path of one machine": re.compile(r"(?<![\w.$})])/(?:wo" r"rk|ro" r"ot|ho" r"me/\w+)/"),
    "a test that nothing runs": re.compile(r"^\s*#\[ign" r"ore"),
}


def breaches(path: str, text: str) -> Iterator[str]:
    """What breaks a rule in a file, as ``LINE: what``."""
    lines = text.splitlines()
    if text and not text.endswith("\n"):
        yield f"{len(lines)}: no newline at the end"
    for what, pattern in NOWHERE.items():
        yield from (f"{n}: {what}: {line.strip()[:80]}" for n, line in enumerate(lines, 1) if pattern.search(line))
    is_source = Path(path).suffix in SOURCE or text.startswith("#!")
    if is_source or Path(path).name in {"Makefile", "apt-packages"}:
        yield from licence(path, "\n".join(lines[:5]))
    most = MOST_LINES[max((room for room in MOST_LINES if path.startswith(room)), key=len)]
    if is_source and len(lines) > most:
        yield f"{len(lines)}: {len(lines)} lines; the most is {most}"
    if path == "README.md":
        yield from first_screen(lines[:FIRST_SCREEN])
    if path == "CHANGELOG.md" and "## [Unreleased]" not in text:
        yield "1: no '## [Unreleased]'"


def licence(path: str, head: str) -> Iterator[str]:
    """A source file names its licence in its first five lines, and the right one."""
    allowed = [said for pattern, said in annotations() if fnmatchcase(path, pattern)][-1]
    found = SPDX.search(head)
    if not found:
        yield "1: no SPDX-License-Identifier in the first five lines"
    elif found.group(1) != allowed:
        yield f"1: licence {found.group(1)!r}; in REUSE.toml it is {allowed}"


@cache
def annotations() -> list[tuple[str, str]]:
    """Patterns of REUSE.toml and their licence, as headers write it; the last that fits a path holds."""
    found = []
    for table in tomllib.loads((TOP / "REUSE.toml").read_text(encoding="utf-8"))["annotations"]:
        paths = [table["path"]] if isinstance(table["path"], str) else table["path"]
        found += [(pattern, table["SPDX-License-Identifier"].replace("GPL-2.0-only", "GPL-2.0")) for pattern in paths]
    return found


def first_screen(top: list[str]) -> Iterator[str]:
    """README begins with what it is for: a command, a narrow table and what to try."""
    for number, line in enumerate(top, 1):
        if line.startswith("|") and line.count("|") - 1 > MOST_COLUMNS:
            yield f"{number}: a table of {line.count('|') - 1} columns; the most on the first screen is {MOST_COLUMNS}"
    for wanted in ("netnice rsync", "| --- |", "./setup demo", "./setup test"):
        if not any(wanted in line for line in top):
            yield f"{FIRST_SCREEN}: no '{wanted}' among the first {FIRST_SCREEN} lines"


def tracked() -> dict[str, str]:
    """The texts that git knows, but locks and licences."""
    listed = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    found = {}
    for path in filter(None, listed.split("\0")):
        file = TOP / path
        if path.startswith(("LICENSES/", "setup.d/locked/")) or file.suffix == ".lock" or file.is_symlink():
            continue
        try:
            found[path] = file.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # a picture or a recording; deleted and not yet committed
    return found


if __name__ == "__main__":
    said = [f"{path}:{breach}" for path, text in tracked().items() for breach in breaches(path, text)]
    sys.exit("\n".join(said) or 0)
