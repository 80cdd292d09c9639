# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The recipes as docs/policy.md has them: what a reader copies is what is tested."""

from __future__ import annotations

import re
from pathlib import Path

_DOCUMENT = Path(__file__).parents[3] / "docs" / "policy.md"
#: What a rule begins with; other words in code belong to the rule before them.
_NAMES = ("unit", "slice", "container", "cgroup", "command")


def recipes() -> dict[str, list[str]]:
    """Of each kind of work its rules, as text of a policy."""
    rows = (line.split("|") for line in _DOCUMENT.read_text().splitlines() if line.startswith("| "))
    return {row[1].strip(): found for row in rows if (found := _rules(row[2]))}


def _rules(cell: str) -> list[str]:
    rules: list[str] = []
    for words in re.findall(r"`([^`]+ = [^`]+)`", cell):
        if words.startswith(_NAMES):
            rules.append("[[rule]]\n")
        rules[-1] += f"{words}\n"
    return rules
