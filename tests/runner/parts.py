# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The table of parts, checked as it is read."""

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .verdict import COUNTERS


class BadTable(Exception):
    """The table cannot be used; the text says which row and why."""


@dataclass(frozen=True)
class Part:
    """One row: a command, how its output is counted, and its limits."""

    name: str
    group: str
    run: list[str]
    count: str
    minutes: float
    root: bool = False


def read_parts(table: Path) -> list[Part]:
    """Reads the rows of ``table``; ``{python}`` in a command is the running interpreter."""
    try:
        rows = tomllib.loads(table.read_text(encoding="utf-8"))["part"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise BadTable(f"{table}: {error}") from error
    parts: list[Part] = []
    for row in rows:
        try:
            part = Part(**row)
        except TypeError as error:
            raise BadTable(f"{table}: row {row.get('name', '?')}: {error}") from error
        if part.count not in COUNTERS:
            raise BadTable(f"{table}: row {part.name}: count is one of {', '.join(COUNTERS)}")
        if part.name in {p.name for p in parts}:
            raise BadTable(f"{table}: two rows are named {part.name}")
        parts.append(part)
    return [resolved(part) for part in parts]


def resolved(part: Part) -> Part:
    """The row with its interpreter filled in."""
    command = [sys.executable if word == "{python}" else word for word in part.run]
    return Part(part.name, part.group, command, part.count, part.minutes, part.root)


def choose(parts: list[Part], wanted: list[str]) -> list[Part]:
    """The parts that ``wanted`` names by name or group; ``all`` or nothing means every one."""
    if not wanted or "all" in wanted:
        return parts
    known = {p.name for p in parts} | {p.group for p in parts}
    if strange := [w for w in wanted if w not in known]:
        raise BadTable(f"no part or group is named {strange[0]}; known: {', '.join(sorted(known))}")
    return [p for p in parts if p.name in wanted or p.group in wanted]
