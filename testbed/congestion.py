# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A namespace's default congestion control, also where the machine's own is another."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from testbed.errors import TestbedError
from testbed.programs import program

_ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def set_default(namespace: Path, name: str) -> None:
    """Makes ``name`` the default of connections in the namespace."""
    if name not in _AVAILABLE.read_text().split():
        subprocess.run(["modprobe", f"tcp_{name}"], check=False, capture_output=True)
    if not _set(namespace, name):
        # Other namespaces than the first may only use what the machine allows everybody to use.
        with _allowed(name):
            if not _set(namespace, name):
                raise TestbedError(
                    f"this kernel does not offer the congestion control {name} "
                    f"(it has: {_AVAILABLE.read_text().strip()}); load the module tcp_{name}"
                )


def _set(namespace: Path, name: str) -> bool:
    # fmt: off
    argv = [
        program("nsenter"), f"--net={namespace}", "--",
        program("sysctl"), "-qw", f"net.ipv4.tcp_congestion_control={name}",
    ]
    # fmt: on
    return subprocess.run(argv, check=False, capture_output=True).returncode == 0


@contextlib.contextmanager
def _allowed(name: str) -> Iterator[None]:
    """Allows one more; writing replaces the whole list, so the others are written again."""
    before = _ALLOWED.read_text().split()
    if name in before or name not in _AVAILABLE.read_text().split():
        yield
        return
    _ALLOWED.write_text(" ".join([*before, name]))
    try:
        yield
    finally:
        now = _ALLOWED.read_text().split()
        _ALLOWED.write_text(" ".join(word for word in now if word != name))
