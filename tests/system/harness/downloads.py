# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Downloads over a slow path from two servers, so that what each brings is told apart by its port."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

from testbed import Namespace, Nginx, Path, Process, sockets

#: Bits a second.
RATE = 10_000_000
SIZE = 1 << 34


@dataclass(frozen=True)
class Downloads:
    """Home, at the end of a path of 10 Mbit/s and 40 ms, and two web servers at the other."""

    www: Namespace
    home: Namespace
    path: Path
    web: Nginx
    other: Nginx

    def start(self, server: Nginx, *words: str) -> Process:
        """A download without end; ``words`` run it."""
        return self.home.spawn(*words, "curl", "-so", "/dev/null", server.url("big"), stdout=subprocess.PIPE)

    def received(self, server: Nginx) -> int:
        """Bytes that its connections have brought."""
        return sum(s.bytes_received for s in sockets(self.home, peer_port=server.port))

    def window(self, server: Nginx) -> float:
        """What the kernel is ready to advertise to it, bytes."""
        (connection,) = sockets(self.home, peer_port=server.port)
        return connection.number("rcv_ssthresh")

    def goodput(self, server: Nginx, seconds: float) -> float:
        """The part of the path's rate that it uses, from now on."""
        return self.goodputs(seconds, server)[0]

    def goodputs(self, seconds: float, *servers: Nginx) -> list[float]:
        """The same of several, at once."""
        before, begun = [self.received(server) for server in servers], time.monotonic()
        time.sleep(seconds)
        after, lasted = [self.received(server) for server in servers], time.monotonic() - begun
        return [8 * (b - a) / lasted / RATE for a, b in zip(before, after, strict=True)]

    def share(self, seconds: float) -> float:
        """What the first server's download gets of what both get."""
        first, second = self.goodputs(seconds, self.web, self.other)
        return first / (first + second)


@contextlib.contextmanager
def downloads() -> Iterator[Downloads]:
    """The network, for a while."""
    with (
        Namespace("www") as www,
        Namespace("home") as home,
        Path(www, home, rate="10mbit", rtt="40ms") as path,
        Nginx(www, {"big": SIZE}) as web,
        Nginx(www, {"big": SIZE}) as other,
    ):
        yield Downloads(www, home, path, web, other)
