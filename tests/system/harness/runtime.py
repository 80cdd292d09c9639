# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How long eBPF programs run, by the kernel's own statistics."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from testbed import program

SWITCH = Path("/proc/sys/kernel/bpf_stats_enabled")


@dataclass(frozen=True)
class Spent:
    """Time in a program since it was loaded."""

    nanoseconds: int = 0
    calls: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.nanoseconds + other.nanoseconds, self.calls + other.calls)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.nanoseconds - other.nanoseconds, self.calls - other.calls)

    @property
    def each(self) -> float:
        """Nanoseconds a call."""
        return self.nanoseconds / self.calls


@contextlib.contextmanager
def measured() -> Iterator[None]:
    """The kernel measures while the context lasts."""
    before = SWITCH.read_text()
    SWITCH.write_text("1")
    try:
        yield
    finally:
        SWITCH.write_text(before)


def programs() -> dict[int, tuple[str, Spent]]:
    """Every loaded program, by id: its name and the time in it."""
    shown = subprocess.run([program("bpftool"), "-j", "prog", "show"], check=True, capture_output=True, text=True)
    return {
        int(one["id"]): (str(one.get("name", "")), Spent(int(one.get("run_time_ns", 0)), int(one.get("run_cnt", 0))))
        for one in json.loads(shown.stdout)
    }


def spent(name: str, without: Collection[int] = ()) -> Spent:
    """Time in all programs of a name, but for those of the ids ``without``."""
    found = [one for number, (called, one) in programs().items() if _is(called, name) and number not in without]
    assert found, f"no program {name} is loaded"
    return sum(found, Spent())


def newest(name: str) -> Spent:
    """Time in the program of a name that was loaded last: those of earlier loads live as long as their connections."""
    loaded = programs()
    found = [number for number, (called, _) in loaded.items() if _is(called, name)]
    assert found, f"no program {name} is loaded"
    return loaded[max(found)][1]


def _is(called: str, name: str) -> bool:
    """The kernel keeps 15 characters of a name; its type information may tell the rest."""
    return called in (name, name[:15])
