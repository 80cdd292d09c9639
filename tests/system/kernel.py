# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What netnice has put into the kernel, seen from outside: no program of netnice is asked."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from testbed import program
from testbed.namespace import wait_until

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


def programs() -> list[str]:
    """Names of the loaded eBPF programs that are netnice's."""
    shown = subprocess.run([program("bpftool"), "-j", "prog", "show"], check=True, capture_output=True, text=True)
    names = [str(entry.get("name", "")) for entry in json.loads(shown.stdout)]
    return [name for name in names if name == "policy" or name.startswith(("nice_", "nnvegas_", "nnreno_"))]


def remains() -> list[str]:
    """Everything of netnice that is in the kernel."""
    found = [str(path) for path in (PINS, cgroup_root() / "netnice") if path.exists()]
    return found + [name for name in registered() if name in ("nice", "nnvegas", "nnreno")] + programs()


def assert_nothing_remains() -> None:
    """The kernel frees programs a little after their last user has gone."""
    wait_until(lambda: remains() == [], f"the kernel to be clean of {remains()}", seconds=10)
