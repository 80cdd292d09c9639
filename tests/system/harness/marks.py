# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What one connection runs on and is marked with, as the kernel's own tables and the socket itself say."""

from __future__ import annotations

import ctypes
import os
import re
import socket
from pathlib import Path

from testbed import Namespace
from testbed.sockets import parse

_PIDFD_GETFD = 438  # its number on every architecture


def priority(pid: int) -> int:
    """SO_PRIORITY of the one TCP connection of a process: no table of the kernel shows it."""
    process = os.pidfd_open(pid)
    try:
        found = [one for fd in _sockets(pid) if (one := _connection(process, fd)) is not None]
    finally:
        os.close(process)
    assert len(found) == 1, found
    return found[0]


def _sockets(pid: int) -> list[int]:
    folder = Path(f"/proc/{pid}/fd")
    return [int(fd.name) for fd in folder.iterdir() if str(fd.readlink()).startswith("socket:")]


def _connection(process: int, fd: int) -> int | None:
    """Its priority, if it is a connected TCP socket."""
    copy = ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_GETFD, process, fd, 0)
    assert copy >= 0, os.strerror(ctypes.get_errno())
    with socket.socket(fileno=copy) as found:
        if found.proto != socket.IPPROTO_TCP or found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return None
        return found.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY)


def marks(namespace: Namespace, version: int, side: str, port: int) -> tuple[str, int]:
    """The congestion control of one connection, and the TOS (IPv4) or traffic class (IPv6) it sends with.

    ``side`` is "sport" or "dport".
    """
    words = ["state", "established", side, "=", f":{port}"]
    # With a state filter ss leaves the state out.
    plain = [f"ESTAB {line}" for line in namespace.run("ss", "-tinOH", *words).stdout.splitlines()]
    extended = namespace.run("ss", "-tinOH", "--tos", *words).stdout
    field = re.search(rf"\b{'tos' if version == 4 else 'tclass'}:(0x[0-9a-f]+|0)", extended)
    assert len(plain) == 1, plain
    assert field, extended
    return parse(plain[0]).congestion_control, int(field[1], 0)
