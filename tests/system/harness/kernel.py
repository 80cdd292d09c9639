# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What netnice has put into the kernel, seen from outside: no program of netnice is asked."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from testbed import program

PINS = Path("/sys/fs/bpf/netnice")
NAMES = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def cgroup_root() -> Path:
    """Where cgroup v2 is mounted."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        if right.startswith("cgroup2 "):
            return Path(left.split()[4])
    raise AssertionError("no cgroup v2 on this machine")


def registered() -> list[str]:
    """Names that setsockopt(TCP_CONGESTION) takes."""
    return NAMES.read_text().split()


def programs() -> dict[int, str]:
    """The loaded eBPF programs that are netnice's, by id."""
    shown = subprocess.run([program("bpftool"), "-j", "prog", "show"], check=True, capture_output=True, text=True)
    names = {int(entry["id"]): str(entry.get("name", "")) for entry in json.loads(shown.stdout)}
    ours = ("netnice_", "netnice1_", "netnice2_", "nice_", "nnvegas_", "nnreno_", "quic_")
    return {number: name for number, name in names.items() if name == "policy" or name.startswith(ours)}


def remains(before: dict[int, str]) -> list[str]:
    """Everything of netnice that is in the kernel, but for the programs that were there ``before``.

    A connection keeps the programs it runs on until it ends, also somebody else's and long after a down.
    """
    found = [str(path) for path in (PINS, cgroup_root() / "netnice") if path.exists()]
    found += [name for name in registered() if name in ("netnice", "netnice1", "netnice2", "nice", "nnvegas", "nnreno")]
    return found + [f"{name} ({number})" for number, name in programs().items() if number not in before]


def assert_nothing_remains(before: dict[int, str]) -> None:
    """The kernel frees programs a little after their last user has gone."""
    deadline = time.monotonic() + 10
    while (found := remains(before)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert found == []
