# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The machine's part: netnice up for the demo and as before after it, and what to tell of it."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from collections.abc import Iterator

from testbed import TestbedError, program

_NOT_UP = 3  # netnicectl status


@contextlib.contextmanager
def netnice_up() -> Iterator[None]:
    """Loads netnice unless it is loaded, and then unloads it again."""
    was_up = _netnicectl("status").returncode != _NOT_UP
    if not was_up:
        done = _netnicectl("up")
        if done.returncode != 0:
            raise TestbedError(f"netnicectl up failed: {done.stderr.strip()}")
    try:
        yield
    finally:
        if not was_up:
            _netnicectl("down")


def facts() -> dict[str, str | int]:
    """Kernel and versions, for demo.json."""
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": os.cpu_count() or 0,
        "netnice": _version("netnice", "--version"),
        "nginx": _version("nginx", "-v"),
        "rsync": _version("rsync", "--version"),
        "python": platform.python_version(),
    }


def _version(name: str, option: str) -> str:
    with contextlib.suppress(TestbedError):
        done = subprocess.run([program(name), option], check=False, capture_output=True, text=True)
        return (done.stdout or done.stderr).splitlines()[0].strip()
    return "not installed"


def _netnicectl(verb: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program("netnicectl"), verb], check=False, capture_output=True, text=True)
