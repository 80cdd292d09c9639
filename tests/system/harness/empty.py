# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A program that does nothing, where ours are: what the kernel's statistics themselves cost, in these very minutes."""

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
SEC("%s") int empty(void *context) { (void)context; return 1; }
"""


@contextlib.contextmanager
def on_all_arrivals() -> Iterator[None]:
    """Every packet that arrives at a socket of the machine runs it, while the context lasts."""
    with _at_the_root("cgroup_skb/ingress", "ingress", "multi"):
        yield


@contextlib.contextmanager
def alone_at_the_root() -> Iterator[None]:
    """As somebody else may have attached one: it runs for every new socket, and no other may join it at the root."""
    with _at_the_root("cgroup/sock_create", "cgroup_inet_sock_create"):
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
def _at_the_root(section: str, kind: str, *flags: str) -> Iterator[None]:
    tool, where = program("bpftool"), [str(kernel.cgroup_root()), kind, "pinned", _PIN]
    with _loaded(section):
        subprocess.run([tool, "cgroup", "attach", *where, *flags], check=True)
        try:
            yield
        finally:
            subprocess.run([tool, "cgroup", "detach", *where], check=True)


@contextlib.contextmanager
def _loaded(section: str) -> Iterator[None]:
    folder = ownership.scratch("empty")
    source, obj = folder / "empty.c", folder / "empty.o"
    source.write_text(_SOURCE % section)
    # What `make` compiles the project's own with.
    clang = program(os.environ.get("CLANG", "clang-16"))
    subprocess.run([clang, "-target", "bpf", "-O2", "-g", "-c", str(source), "-o", str(obj)], check=True)
    subprocess.run([program("bpftool"), "prog", "load", str(obj), _PIN], check=True)
    try:
        yield
    finally:
        File(_PIN).unlink()
