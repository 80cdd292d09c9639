# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Processes and those that they have started."""

from __future__ import annotations

from pathlib import Path


def children(pid: int) -> list[int]:
    """Of its first thread."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def descendants(pid: int) -> list[int]:
    """Those of its children, too."""
    return [found for child in children(pid) for found in (child, *descendants(child))]


def name(pid: int) -> str:
    """That of the program, as the kernel cuts it."""
    return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
