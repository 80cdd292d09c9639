#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Puts each fault of faults.toml into a copy of the tree: does the command of its row fail?

The copy is a git worktree that keeps what it compiled. A command must first pass on the copy as it is.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults.draw import FOLDERS, TEST, TOP, git

COPY: Path = TOP / "target" / "faults"
LONGEST = 3600  # seconds of a command; what hangs is caught
COMPILED = (".c", ".h", ".rs")
BUILD = "make build"  # with the flags that the tests are compiled with, too


class Fault(NamedTuple):
    """A row; `old` is in one file of the room."""

    id: str
    room: str
    draw: int
    file: str
    old: str
    new: str
    part: str
    run: str
    breaks: str

    def place(self, top: Path) -> Path:
        """The file that has the line now, which may have moved within its room."""
        folders = [top / folder for folder in FOLDERS.get(self.room, (self.room,))]
        files = [found for folder in folders for found in ([folder] if folder.is_file() else folder.rglob("*"))]
        found: list[Path] = []
        for file in files:
            if file.is_file() and not TEST.search(str(file.relative_to(top))):
                found += [file] * file.read_text(errors="replace").count(self.old)
        if len(found) != 1:
            raise SystemExit(f"{self.id}: its line is {len(found)} times in {self.room}; mend the row")
        return found[0]

    @contextmanager
    def applied(self, top: Path) -> Iterator[Path]:
        """The fault is in the tree meanwhile."""
        file = self.place(top)
        before = file.read_text()
        file.write_text(before.replace(self.old, self.new))
        try:
            yield file
        finally:
            file.write_text(before)


def rows() -> list[Fault]:
    """All faults."""
    return [Fault(**row) for row in tomllib.loads(Path(__file__).with_name("faults.toml").read_text())["fault"]]


def tree(commit: str) -> Path:
    """The copy, at a commit."""
    if not COPY.is_dir():
        git("worktree", "prune")
        git("worktree", "add", "--detach", str(COPY), commit)
    subprocess.run(["git", "-C", COPY, "checkout", "--quiet", "--force", "--detach", commit], check=True)
    return COPY


def run(command: str, top: Path) -> tuple[int, str]:
    """Exit code, and the last line said."""
    target, log = top / "target", top / "target" / "faults.log"
    own = {"NETNICE_BIN": str(target / "release"), "PYTHON": sys.executable}
    own |= {"PYTHONDONTWRITEBYTECODE": "1"}  # a compiled module would outlive a fault of the same second and length
    words = [sys.executable if word == "{python}" else word for word in shlex.split(command)]
    target.mkdir(exist_ok=True)
    with log.open("w") as said:
        process = subprocess.Popen(
            words, cwd=top, env={**os.environ, **own}, stdout=said, stderr=said, start_new_session=True
        )
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            code = -1
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return code, lines[-1] if lines else ""


def verdict(fault: Fault, command: str, top: Path) -> tuple[str, str]:
    """Caught, survived or not built, and the last line."""
    with fault.applied(top) as file:
        if file.suffix in COMPILED and fault.part != "build":
            code, said = run(BUILD, top)
            if code:
                return "not built", said
        code, said = run(command, top)
    return ("caught" if code else "survived"), said


def main() -> int:
    """Exit status 0 if every named fault was caught."""
    parser = argparse.ArgumentParser(
        description="Puts faults into a copy of the tree, and runs what should catch them."
    )
    parser.add_argument("faults", nargs="*", metavar="ID")
    parser.add_argument("--all", action="store_true", help="every fault")
    parser.add_argument("--check", action="store_true", help="only whether each line is found once in this clone")
    parser.add_argument("--command", help="in place of the one of the row; {python} is this Python")
    parser.add_argument("--at", default="HEAD", help="the commit to break (HEAD)")
    arguments = parser.parse_args()
    chosen = [fault for fault in rows() if arguments.all or arguments.check or fault.id in arguments.faults]
    if arguments.check:
        print(f"{len([fault.place(TOP) for fault in chosen])} faults apply")
        return 0
    top, sound, caught = tree(git("rev-parse", arguments.at).strip()), {BUILD: run(BUILD, COPY)}, 0
    for fault in chosen:
        command, began = arguments.command or fault.run, time.monotonic()
        if command not in sound:
            sound[command] = run(command, top)
        failed = next((said for code, said in (sound[BUILD], sound[command]) if code), None)
        found, said = ("no verdict", failed) if failed is not None else verdict(fault, command, top)
        caught += found == "caught"
        print(f"{fault.id:22} {fault.part:10} {found:10} {time.monotonic() - began:5.0f} s  {said[:90]}", flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return caught != len(chosen)


if __name__ == "__main__":
    sys.exit(main())
