#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The licences of the crates that programs of the workspace contain, as one text: packaging/licences.py PROGRAM...

From cargo's account of the workspace and the files in each crate. What only a build or a test uses is left out, as are
procedural macros.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

FILE = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICEN[CS]E)\b.*", re.IGNORECASE)
HEAD = """The programs of netnice contain the crates below, in the versions of Cargo.lock, and Rust's standard library
(MIT OR Apache-2.0, https://github.com/rust-lang/rust). Each is under its own licence; the texts follow.
"""


def told(*words: str) -> str:
    """What a command prints."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def contained(programs: list[str]) -> list[dict[str, Any]]:
    """The crates, by name and version."""
    (host,) = re.findall(r"host: (\S+)", told("rustc", "-vV"))
    account = json.loads(told("cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={host}"))
    packages = {package["id"]: package for package in account["packages"]}
    needs = {node["id"]: node["deps"] for node in account["resolve"]["nodes"]}
    targets = ((i, target) for i, package in packages.items() for target in package["targets"])
    made = {target["name"]: i for i, target in targets if "bin" in target["kind"]}
    found: set[str] = set()
    waiting = [made[program] for program in programs]
    while waiting:
        crate = waiting.pop()
        if crate in found or any("proc-macro" in target["kind"] for target in packages[crate]["targets"]):
            continue
        found.add(crate)
        linked = (need for need in needs[crate] if any(kind["kind"] is None for kind in need["dep_kinds"]))
        waiting += [need["pkg"] for need in linked]
    others = (packages[crate] for crate in found if packages[crate]["source"])
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def texts(package: dict[str, Any]) -> list[str]:
    """What its licence files say, also those of what it brings along in C."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(path for path in (*folder.glob("*"), *folder.glob("*/*")) if FILE.fullmatch(path.name))
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in files if path.is_file()]


def main(programs: list[str]) -> None:
    """The list, and each text once, with the crates that have it."""
    print(HEAD)
    whose: dict[str, list[str]] = defaultdict(list)
    for package in contained(programs):
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license'] or 'see its text'}, {package['repository'] or 'crates.io'}")
        for text in texts(package):
            if name not in whose[text]:
                whose[text].append(name)
    for text, names in whose.items():
        print(f"\n{'-' * 78}\n{', '.join(names)}\n{'-' * 78}\n\n{text}")


if __name__ == "__main__":
    main(sys.argv[1:])
