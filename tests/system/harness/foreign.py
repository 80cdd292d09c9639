# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Somebody else's program at the root of the cgroups, attached so that no other may join it."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from system.harness import kernel
from testbed import ownership, program

_PIN = "/sys/fs/bpf/netnice-test-foreign"
_SOURCE = """
#define SEC(name) __attribute__((section(name), used))
char _license[] SEC("license") = "GPL";
SEC("cgroup/sock_create") int foreign(void *sk) { (void)sk; return 1; }
"""


@contextlib.contextmanager
def alone_at_the_root() -> Iterator[None]:
    """Every new socket of the machine runs it, and nothing else may be attached there, while the context lasts."""
    folder = ownership.scratch("foreign")
    source, obj = folder / "foreign.c", folder / "foreign.o"
    source.write_text(_SOURCE)
    clang = program(os.environ.get("CLANG", "clang-16"))
    subprocess.run([clang, "-target", "bpf", "-O2", "-g", "-c", str(source), "-o", str(obj)], check=True)
    tool, where = program("bpftool"), [str(kernel.cgroup_root()), "cgroup_inet_sock_create", "pinned", _PIN]
    subprocess.run([tool, "prog", "load", str(obj), _PIN], check=True)
    try:
        subprocess.run([tool, "cgroup", "attach", *where], check=True)
        try:
            yield
        finally:
            subprocess.run([tool, "cgroup", "detach", *where], check=True)
    finally:
        Path(_PIN).unlink()
