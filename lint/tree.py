# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Rules of the tree: licence lines, file sizes, nothing unfinished, no path of one machine.

Prints each breach as ``path:line: rule`` and last ``N passed, N failed``, a test per rule and file.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

SOURCE = {".c", ".cc", ".h", ".rs", ".py", ".sh"}
CONFIGURATION = {".toml", ".cfg", ".fragment"}
#: Lines of a source file, by the longest prefix of its path.
MOST_LINES = {"": 400, "algorithms/": 250, "algorithms/sender/nice.h": 120}
#: Files that are longer and are known to be: each is a known miss, and off this list as soon as it is short enough.
KNOWN_LONG: frozenset[str] = frozenset()
#: What a reader of README.md sees without scrolling, and how wide a table may be there.
FIRST_SCREEN, MOST_COLUMNS = 40, 4
# Spelled in pieces, so that this file keeps its own rules.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
ONE_MACHINE = re.compile(r"(?<![\w.$})])/(?:wo" r"rk|ro" r"ot|ho" r"me/\w+)/")
SPDX = re.compile(r"SPDX-License-Identifier: (.+?)(?: \*/)?$", re.MULTILINE)
KERNEL_ROOMS = ("transport/sender/module/", "transport/policy/", "transport/receiver/")

Rule = Callable[[str, str], Iterator[str]]


def is_source(path: str, text: str) -> bool:
    """Whether a person wrote it as code: by suffix, or by its first line."""
    return Path(path).suffix in SOURCE or text.startswith("#!")


def spdx(path: str, text: str) -> Iterator[str]:
    """Each source file names its licence in its first five lines, and the right one."""
    if not is_source(path, text) and Path(path).name not in {"Makefile", "apt-packages"}:
        return
    found = SPDX.search("\n".join(text.splitlines()[:5]))
    if not found:
        yield "1: no SPDX-License-Identifier in the first five lines"
        return
    kernel = path.endswith(".bpf.c") or path.startswith(KERNEL_ROOMS)
    allowed = {"GPL-2.0"} if kernel else {"GPL-2.0 OR BSD-2-Clause", "GPL-2.0"}
    if found.group(1) not in allowed:
        yield f"1: licence {found.group(1)!r}; here it is {' or '.join(sorted(allowed))}"


def length(path: str, text: str) -> Iterator[str]:
    """A longer source file holds more than one idea."""
    lines = len(text.splitlines())
    most = MOST_LINES[max((room for room in MOST_LINES if path.startswith(room)), key=len)]
    if is_source(path, text) and lines > most:
        yield f"{lines}: {lines} lines; the most is {most}"


def first_screen(path: str, text: str) -> Iterator[str]:
    """README begins with what it is for: a command, a narrow table and what to try, all on the first screen."""
    if path != "README.md":
        return
    top = text.splitlines()[:FIRST_SCREEN]
    for number, line in enumerate(top, 1):
        if line.startswith("|") and line.count("|") - 1 > MOST_COLUMNS:
            yield f"{number}: a table of {line.count('|') - 1} columns; the most on the first screen is {MOST_COLUMNS}"
    for wanted in ("netnice rsync", "| --- |", "./setup demo", "./setup test"):
        if not any(wanted in line for line in top):
            yield f"{FIRST_SCREEN}: no '{wanted}' among the first {FIRST_SCREEN} lines"


def finished(_path: str, text: str) -> Iterator[str]:
    """Nothing is marked as still to be done."""
    yield from matches(UNFINISHED, text, "marked as unfinished")


def portable(_path: str, text: str) -> Iterator[str]:
    """No path that exists on one machine only."""
    yield from matches(ONE_MACHINE, text, "a path of one machine")


def tidy(_path: str, text: str) -> Iterator[str]:
    """Text ends with one newline."""
    if text and not text.endswith("\n"):
        yield f"{len(text.splitlines())}: no newline at the end"


RULES: tuple[Rule, ...] = (spdx, length, first_screen, finished, portable, tidy)


def matches(pattern: re.Pattern[str], text: str, what: str) -> Iterator[str]:
    """A breach for each line that matches."""
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.search(line):
            yield f"{number}: {what}: {line.strip()[:80]}"


def changelog(top: Path) -> list[str]:
    """The change log exists and has a place for what is not yet released."""
    path = top / "CHANGELOG.md"
    if not path.is_file():
        return ["CHANGELOG.md:1: it is missing"]
    return [] if "## [Unreleased]" in path.read_text(encoding="utf-8") else ["CHANGELOG.md:1: no '## [Unreleased]'"]


def tracked(top: Path) -> list[str]:
    """The files of the tree that git knows and that are there, but locks and licence texts."""
    listed = subprocess.run(["git", "-C", str(top), "ls-files", "-z"], check=True, capture_output=True, text=True)
    paths = [p for p in listed.stdout.split("\0") if p and (top / p).is_file() and not (top / p).is_symlink()]
    return [p for p in paths if not p.startswith("LICENSES/") and not p.endswith((".lock", "requirements.txt"))]


def check(top: Path) -> tuple[int, list[str], list[str]]:
    """Applies every rule to every file; returns how many held, the breaches, and those that are known."""
    breaches = changelog(top)
    known: list[str] = []
    held = 0 if breaches else 1
    for path in tracked(top):
        try:
            text = (top / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture or a recording, not text
        for rule in RULES:
            found = [f"{path}:{breach}" for breach in rule(path, text)]
            if rule is length and path in KNOWN_LONG:
                known += found
                if not found:
                    breaches.append(f"{path}:1: it is short enough by now: take it off KNOWN_LONG in lint/tree.py")
                continue
            breaches += found
            held += not found
    return held, breaches, known


def main() -> int:
    """Exit status 0 when every rule holds."""
    held, breaches, known = check(Path(__file__).resolve().parent.parent)
    for line in [*breaches, *(f"known miss: {one}" for one in known)]:
        print(line)
    print(f"{held} passed, {len(breaches)} failed")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
