# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One call that puts a TCP connection into the background, with the best that this machine has."""

from __future__ import annotations

import errno
import os
import socket
from typing import NamedTuple

#: Bytes a second where nothing on the machine can yield: 1 Mbit/s. No fixed number is right everywhere.
CAP = 125_000
#: A connection that has a level already keeps it: the others yield to less.
LEVELS = ("netnice", "netnice1", "netnice2")
CONTROLS = ("netnice", "nnledbatpp", "lp")
NETNICE_RECEIVE = 0x6E6E
# asm-generic/socket.h; Python has no name for it.
SO_MAX_PACING_RATE = 47
LONGEST_NAME = 16
# A read far beyond the end of a line of text: netnice answers with an errno that no error has.
ANSWERS, MOST_KBITS, DONE = 1 << 30, (1 << 28) - 1, range(0x100, 0x200)


class Background(NamedTuple):
    """What the connection got."""

    sends: str
    """A congestion control, or ``pacing``: a rate of at most ``CAP``."""
    receives: bool
    """Whether what it receives yields too."""


def background(connection: socket.socket) -> Background:
    """Needs no rights, and may be called at any time.

    Tries in this order: a level that the connection has already, netnice, LEDBAT++, TCP-LP, a cap on its rate.
    Raises OSError if it is no TCP socket.
    """
    had = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, LONGEST_NAME).rstrip(b"\0").decode()
    receives = _set(connection, socket.IPPROTO_TCP, NETNICE_RECEIVE, 1)
    if had in LEVELS:
        return Background(had, receives)
    for name in CONTROLS:
        if _set(connection, socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode()):
            return Background(name, receives)
    connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, CAP)
    return Background("pacing", receives)


def at_least(rate: int) -> None:
    """What the process' connections in the background have together at least: bit/s in each direction; 0: nothing.

    For sockets that it makes from then on, and for what it starts. Once, before the process is in the background by
    itself. Raises OSError: EPERM where that is too late, ENOSYS where netnice is not loaded.
    """
    file = os.open("/proc/sys/kernel/domainname", os.O_RDONLY)
    try:
        os.pread(file, 1, ANSWERS | min(rate // 1000, MOST_KBITS))
    except OSError as error:
        if error.errno in DONE:
            return
        raise
    finally:
        os.close(file)
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def _set(connection: socket.socket, level: int, option: int, value: int | bytes) -> bool:
    try:
        connection.setsockopt(level, option, value)
    except OSError:
        return False
    return True
