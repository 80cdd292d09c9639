# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A program that does nothing, on every cgroup: what the kernel's statistics themselves cost, in these very minutes."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path as File

from system.harness import kernel
from testbed import ownership, program

#: Its name.
EMPTY = "empty"
_PIN = "/sys/fs/bpf/netnice-test-empty"
_SOURCE = """
#define SEC(name) __attribute__((section(name), used))
char _license[] SEC("license") = "GPL";
SEC("cgroup_skb/ingress") int empty(void *skb) { (void)skb; return 1; }
"""


@contextlib.contextmanager
def on_all_arrivals() -> Iterator[None]:
    """Every packet that arrives at a socket of the machine runs it, while the context lasts."""
    folder = ownership.scratch("empty")
    source, obj = folder / "empty.c", folder / "empty.o"
    source.write_text(_SOURCE)
    # What `make` compiles the project's own with.
    clang = program(os.environ.get("CLANG", "clang-16"))
    subprocess.run([clang, "-target", "bpf", "-O2", "-g", "-c", str(source), "-o", str(obj)], check=True)
    tool, where = program("bpftool"), [str(kernel.cgroup_root()), "ingress", "pinned", _PIN]
    subprocess.run([tool, "prog", "load", str(obj), _PIN], check=True)
    try:
        subprocess.run([tool, "cgroup", "attach", *where, "multi"], check=True)
        try:
            yield
        finally:
            subprocess.run([tool, "cgroup", "detach", *where], check=True)
    finally:
        File(_PIN).unlink()
