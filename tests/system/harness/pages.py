# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A site of pages that lead in pairs from one to the next, and the log of those who went so."""

from __future__ import annotations

import os
from pathlib import Path

#: Each pair has visitors of its own, so that a page is likely after its partner alone.
_VISITORS = 2
_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><title>{name}</title></head>
<body><h1>{name}</h1><p><a id="next" href="{next}">on</a></p><p style="overflow-wrap: anywhere">{text}</p></body></html>
"""


def first(pair: int) -> str:
    """The path of a pair's page that is asked for."""
    return f"/first{pair}.html"


def second(pair: int) -> str:
    """The path of the page that follows it."""
    return f"/second{pair}.html"


def write(folder: Path, pairs: int, size: int) -> None:
    """Files of some ``size`` bytes that nothing compresses much; their links have the id ``next``."""
    for pair in range(pairs):
        for path, onward, length in ((first(pair), second(pair), 4_000), (second(pair), first(pair), size)):
            text = os.urandom(length // 2).hex()
            (folder / path[1:]).write_text(_PAGE.format(name=path, next=onward, text=text))


def log(pairs: int) -> str:
    """An access log of visitors who went from each first page to the second."""
    line = '192.0.2.{} - - [30/Jan/2026:13:55:36 +0000] "GET {} HTTP/1.1" 200 9\n'
    return "".join(
        line.format(_VISITORS * pair + visitor, path(pair))
        for pair in range(pairs)
        for visitor in range(_VISITORS)
        for path in (first, second)
    )
