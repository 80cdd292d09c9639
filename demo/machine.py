# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What to tell of the machine."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess

from testbed import TestbedError, program


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
