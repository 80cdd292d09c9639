# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The commands under test, the programs that they are tried on, and what the kernel says of their connections."""

from __future__ import annotations

import ctypes
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from testbed import Namespace, Process, program, sockets
from testbed.sockets import parse

PROGRAMS = Path(__file__).parents[1] / "programs"
#: Debian's: that of a virtual environment may lie where users may not go.
PYTHON = "/usr/bin/python3"
#: The congestion control of each level.
ALGORITHM = {0: "netnice", 1: "netnice1", 2: "netnice2"}
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def as_user(number: int) -> tuple[str, ...]:
    """Words that run a program without any rights."""
    return ("setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups", "--")


DROP = as_user(65534)


def call(name: str, *words: str, check: bool = True, timeout: float = 60, **options: Any) -> Done:
    """Runs a program of the project to its end, or kills it after so many seconds."""
    argv = [program(name), *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False, **options)
    assert not check or done.returncode == 0, f"{argv} ended with {done.returncode}: {done.stderr}"
    return done


def netnice(*words: str, **options: Any) -> Done:
    """Runs it to its end."""
    return call("netnice", *words, **options)


def netnicectl(*words: str, **options: Any) -> Done:
    """Runs it to its end."""
    return call("netnicectl", *words, **options)


def status() -> dict[str, Any]:
    """What netnicectl tells."""
    found: dict[str, Any] = json.loads(netnicectl("status", "--json").stdout)
    return found


def receiver() -> dict[str, int]:
    """What the receiver has counted."""
    return dict(status()["receiver"]["counters"])


def end(*words: str, python: str = sys.executable) -> list[str]:
    """The words that run programs/ends.py."""
    return [python, str(PROGRAMS / "ends.py"), *words]


def end_as_text(*words: str, python: str = sys.executable) -> list[str]:
    """The same for users, whom root's folders may be closed to."""
    return [python, "-c", (PROGRAMS / "ends.py").read_text(), *words]


def children(pid: int) -> list[int]:
    """Those of a process' first thread."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def descendants(pid: int) -> list[int]:
    """Its children's, too."""
    return [found for child in children(pid) for found in (child, *descendants(child))]


def name(pid: int) -> str:
    """That of the program, as the kernel cuts it."""
    return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")


def group_of(pid: int) -> str:
    """The cgroup of a process, below the root of version 2."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return next(line[3:] for line in lines if line.startswith("0::"))


class Connection(NamedTuple):
    """Both ends of one, and the port that the second listens on."""

    client: Process
    server: Process
    port: int


@dataclass(frozen=True)
class Pair:
    """Two namespaces on one cable, with IPv4 and IPv6."""

    a: Namespace
    b: Namespace
    a4: str
    b4: str
    a6: str
    b6: str

    def to(self, version: int | str) -> str:
        """The second one's address, as IPv4, IPv6 or ``mapped``."""
        return {4: self.b4, 6: self.b6}[version] if isinstance(version, int) else f"::ffff:{self.b4}"

    def end(self, where: Namespace, *words: str, first: Sequence[str] = ()) -> Process:
        """Starts programs/ends.py there; ``first`` are the words before its own. Users may not read root's files."""
        argv = end_as_text(*words, python=PYTHON) if DROP[0] in first else end(*words)
        return where.spawn(*first, *argv, stdout=subprocess.PIPE)

    def connect(self, version: int | str = 4, *, client: Sequence[str] = (), server: Sequence[str] = ()) -> Connection:
        """A connection from the first namespace to the second; ``client`` and ``server`` run its ends."""
        serving = self.end(self.b, "listen", first=server)
        port = int(serving.line())
        connecting = self.end(self.a, "connect", self.to(version), str(port), first=client)
        connecting.line()
        return Connection(connecting, serving, port)


def runs_on(namespace: Namespace, *, local: int | None = None, peer: int | None = None) -> list[str]:
    """The congestion controls of the established connections there, one each."""
    found = sockets(namespace, local_port=local, peer_port=peer)
    return [one.congestion_control for one in found if one.state == "ESTAB"]


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


def priority(pid: int) -> int:
    """SO_PRIORITY of the one TCP connection of a process: no table of the kernel shows it."""
    process = os.pidfd_open(pid)
    try:
        files = [fd for fd in Path(f"/proc/{pid}/fd").iterdir() if str(fd.readlink()).startswith("socket:")]
        found = [one for fd in files if (one := _connection(process, int(fd.name))) is not None]
    finally:
        os.close(process)
    assert len(found) == 1, found
    return found[0]


def _connection(process: int, fd: int) -> int | None:
    """Its priority, if it is a connected TCP socket."""
    pidfd_getfd = 438  # on every architecture
    copy = ctypes.CDLL(None, use_errno=True).syscall(pidfd_getfd, process, fd, 0)
    assert copy >= 0, os.strerror(ctypes.get_errno())
    with socket.socket(fileno=copy) as found:
        if found.proto != socket.IPPROTO_TCP or found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return None
        return found.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY)
