# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Somebody else's program, where ours are. One that does nothing shows what the kernel's statistics themselves cost."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path as File

from system.harness import bpf, kernel
from testbed import ownership, program

#: Its name.
EMPTY = "empty"
_PIN = "/sys/fs/bpf/netnice-test-empty"
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


@contextlib.contextmanager
def on_all_arrivals() -> Iterator[None]:
    """Every packet that arrives at a socket of the machine runs it, while the context lasts."""
    with at(kernel.cgroup_root(), "cgroup_skb/ingress", "ingress", "multi"):
        yield


@contextlib.contextmanager
def alone_at_the_root() -> Iterator[None]:
    """As somebody else may have attached one: it runs for every new socket, and no other may join it at the root."""
    with at(kernel.cgroup_root(), "cgroup/sock_create", "cgroup_inet_sock_create"):
        yield


@contextlib.contextmanager
def at_all_forks() -> Iterator[None]:
    """Every fork of the machine runs it, while the context lasts."""
    with _loaded("raw_tp/sched_process_fork"):
        held = bpf.trace(File(_PIN), "sched_process_fork")
        try:
            yield
        finally:
            os.close(held)


@contextlib.contextmanager
def at(cgroup: File, section: str, kind: str, *flags: str, does: str = NOTHING) -> Iterator[None]:
    """One of this kind, with bpftool's words for how it is attached: none lets nobody join it, nor be below."""
    tool, where = program("bpftool"), [str(cgroup), kind, "pinned", _PIN]
    with _loaded(section, does):
        subprocess.run([tool, "cgroup", "attach", *where, *flags], check=True)
        try:
            yield
        finally:
            subprocess.run([tool, "cgroup", "detach", *where], check=True)


@contextlib.contextmanager
def _loaded(section: str, does: str = NOTHING) -> Iterator[None]:
    folder = ownership.scratch("empty")
    source, obj = folder / "empty.c", folder / "empty.o"
    source.write_text(_SOURCE % (section, does))
    # What `make` compiles the project's own with.
    clang = program(os.environ.get("CLANG", "clang-16"))
    subprocess.run([clang, "-target", "bpf", "-O2", "-g", "-c", str(source), "-o", str(obj)], check=True)
    subprocess.run([program("bpftool"), "prog", "load", str(obj), _PIN], check=True)
    try:
        yield
    finally:
        File(_PIN).unlink()
