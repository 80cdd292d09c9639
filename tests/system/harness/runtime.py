# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How long eBPF programs run, by the kernel's own statistics; and programs of others beside ours.

One that does nothing shows what the statistics themselves cost, on a fast and on a slow machine.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from system.harness import bpf, kernel
from testbed import ownership, program

_PINS = Path("/sys/fs/bpf")
SWITCH = Path("/proc/sys/kernel/bpf_stats_enabled")
#: ns of the empty program where the bars were stated: 63 ns an ACK, 87 ns a received segment.
EMPTY_NS = 25.0
#: The name of a program of others.
EMPTY = "empty"
_SOURCE = """
#define SEC(name) __attribute__((section(name), used))
char _license[] SEC("license") = "GPL";
static long (*set_flags)(void *, int) = (void *)59;
SEC("%s") int empty(void *context) { (void)set_flags; %s return 1; }
"""
#: It does nothing.
NOTHING = "(void)context;"
_BEGINS = "*(unsigned *)context == 4 || *(unsigned *)context == 5"
#: When a connection begins it gives its events away, also those that others have asked for.
OVERWRITES = f"if ({_BEGINS}) set_flags(context, 0);"
#: It asks for each RTT, and forgets what others have asked for.
FORGETS = f"if ({_BEGINS}) set_flags(context, 1 << 3);"


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
    return {
        int(one["id"]): (str(one.get("name", "")), Spent(int(one.get("run_time_ns", 0)), int(one.get("run_cnt", 0))))
        for one in kernel.bpftool("prog", "show")
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


def on_all_arrivals() -> contextlib.AbstractContextManager[None]:
    """Every packet that arrives at a socket of the machine runs the empty program, while the context lasts."""
    return at(kernel.cgroup_root(), "cgroup_skb/ingress", "ingress", "multi")


def alone_at_the_root() -> contextlib.AbstractContextManager[None]:
    """As others may have attached it: it runs for every new socket, and no other may join it at the root."""
    return at(kernel.cgroup_root(), "cgroup/sock_create", "cgroup_inet_sock_create")


@contextlib.contextmanager
def at_all_forks() -> Iterator[None]:
    """Every fork of the machine runs it, while the context lasts."""
    with _loaded("raw_tp/sched_process_fork") as pin:
        held = bpf.trace(pin, "sched_process_fork")
        try:
            yield
        finally:
            os.close(held)


@contextlib.contextmanager
def at(cgroup: Path, section: str, kind: str, *flags: str, does: str = NOTHING) -> Iterator[None]:
    """One of this kind, with bpftool's words for how it is attached: none lets no other join it, nor be below."""
    with _loaded(section, does) as pin:
        tool, where = program("bpftool"), [str(cgroup), kind, "pinned", str(pin)]
        subprocess.run([tool, "cgroup", "attach", *where, *flags], check=True)
        try:
            yield
        finally:
            subprocess.run([tool, "cgroup", "detach", *where], check=True)


def sweep() -> None:
    """Takes from the root of the cgroups what a run that was killed has left there."""
    root = kernel.cgroup_root()
    for pin in _PINS.glob("netnice-test-*"):
        number = kernel.bpftool("prog", "show", "pinned", pin)["id"]
        for one in kernel.bpftool("cgroup", "show", root):
            if one["id"] == number:
                where = [str(root), one["attach_type"], "id", str(number)]
                subprocess.run([program("bpftool"), "cgroup", "detach", *where], check=True)
        pin.unlink()


@contextlib.contextmanager
def _loaded(section: str, does: str = NOTHING) -> Iterator[Path]:
    """Where it is pinned."""
    pin = _PINS / f"netnice-test-{section.replace('/', '-')}"
    folder = ownership.scratch("empty")
    source, obj = folder / "empty.c", folder / "empty.o"
    source.write_text(_SOURCE % (section, does))
    # What `make` compiles the project's own with.
    clang = program(os.environ.get("CLANG", "clang-16"))
    subprocess.run([clang, "-target", "bpf", "-O2", "-g", "-c", str(source), "-o", str(obj)], check=True)
    subprocess.run([program("bpftool"), "prog", "load", str(obj), str(pin)], check=True)
    try:
        yield pin
    finally:
        pin.unlink(missing_ok=True)
