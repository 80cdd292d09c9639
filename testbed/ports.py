# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Ports for servers."""

from __future__ import annotations

from testbed.namespace import Namespace

_FIRST, _LAST = 8000, 9000


def free_port(namespace: Namespace) -> int:
    """A port below the ephemeral range that nobody in the namespace listens on."""
    taken = _listening(namespace)
    return next(port for port in range(_FIRST, _LAST) if port not in taken)


def listens(namespace: Namespace, port: int) -> bool:
    """Whether a server is there."""
    return port in _listening(namespace)


def _listening(namespace: Namespace) -> set[int]:
    lines = namespace.run("ss", "-tlnH").stdout.splitlines()
    return {int(line.split()[3].rpartition(":")[2]) for line in lines}
