# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Foreground from a log: Squid's native format, the Common Log Format or CSV with 'time,bytes,client'."""

import csv
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from netnice_lab.errors import LabError
from netnice_lab.model.traffic import Document

Entry = tuple[float, int, str]
CLF = re.compile(r'^(\S+) \S+ \S+ \[([^\]]+)\] "[^"]*" \d{3} (\d+|-)')
FORMATS = "Squid's native format, the Common Log Format, CSV with the columns time,bytes,client"


def squid(line: str) -> Entry:
    """time elapsed client code/status bytes method URL …"""
    words = line.split()
    if len(words) < 7 or "/" not in words[3]:
        raise ValueError("not 'time elapsed client code/status bytes method URL …'")
    return float(words[0]), int(words[4]), words[2]


def common(line: str) -> Entry:
    """host ident user [date] "request" status bytes"""
    found = CLF.match(line)
    if not found:
        raise ValueError("not 'host ident user [date] \"request\" status bytes'")
    at = datetime.strptime(found[2], "%d/%b/%Y:%H:%M:%S %z").timestamp()
    return at, 0 if found[3] == "-" else int(found[3]), found[1]


def comma(line: str) -> Entry:
    """time,bytes,client"""
    fields = next(csv.reader([line]))
    if len(fields) != 3:
        raise ValueError(f"{len(fields)} fields instead of time,bytes,client")
    return float(fields[0]), int(fields[1]), fields[2]


def guess(line: str) -> Callable[[str], Entry] | None:
    """The format a line looks like."""
    for parse in (comma, common, squid):
        try:
            parse(line)
        except ValueError:
            continue
        return parse
    return None


def entries(path: Path) -> Iterator[Entry]:
    """Every entry of a log; a malformed line is an error with its number."""
    parse: Callable[[str], Entry] | None = None
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#") or (number == 1 and line == "time,bytes,client"):
                continue
            if parse is None:
                parse = guess(line)
                if parse is None:
                    raise LabError(f"{path}:{number}: unknown log format", line[:80], f"known are {FORMATS}")
            try:
                at, size, client = parse(line)
                if at != at or abs(at) == float("inf") or size < 0:
                    raise ValueError(f"time {at}, {size} bytes")
            except ValueError as error:
                raise LabError(f"{path}:{number}: malformed line", str(error), "mend or remove the line") from error
            yield at, size, client


def documents(path: Path, start: float = 0.0, duration: float = 900.0) -> tuple[Document, ...]:
    """The documents of `duration` seconds of a log from `start` seconds after its first entry."""
    try:
        log = sorted(entries(path))
    except OSError as error:
        raise LabError(f"cannot read the trace {path}", str(error), "check the path") from error
    if not log:
        raise LabError(f"{path} has no entries", "", "use a log with documents")
    origin = log[0][0] + start
    names: dict[str, int] = {}
    chosen = [
        Document(at - origin, size, names.setdefault(client, len(names)))
        for at, size, client in log
        if 0 <= at - origin < duration and size > 0
    ]
    if not chosen:
        raise LabError(f"{path} has no document in the chosen {duration:g} s", "", "move the start")
    if len(names) > 4096:
        raise LabError(f"{path} names {len(names)} clients", "4096 is the most", "choose a shorter part")
    return tuple(chosen)
