# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The levels: the congestion control of each, and which one a process is in."""

from __future__ import annotations

from pathlib import Path

ALGORITHM = {0: "netnice", 1: "netnice1", 2: "netnice2"}


def group_of(pid: int) -> str:
    """The cgroup of a process, below the root of version 2."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return next(line[3:] for line in lines if line.startswith("0::"))
