# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP sockets as the kernel's own tables show them, ``ss -tinOH``, their end, and the bytes that arrived over time."""

from __future__ import annotations

import bisect
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Self

from testbed.namespace import Namespace

_FIELD = re.compile(r"^([a-z_]+):(.+)$")
_RATE = re.compile(r"\b(pacing_rate|delivery_rate|send) (\d+)bps")


@dataclass(frozen=True)
class Socket:
    """One connection; ``info`` holds every ``name:value`` that ss printed."""

    state: str
    local_port: int
    peer_port: int
    congestion_control: str
    info: dict[str, str] = field(repr=False)

    def number(self, name: str) -> float:
        """A field's first number; 0 where the kernel printed none, which is how ss writes 0."""
        value = re.match(r"[\d.]+", self.info.get(name, ""))
        return float(value[0]) if value else 0.0

    @property
    def bytes_received(self) -> int:
        """Payload bytes that arrived in order."""
        return int(self.number("bytes_received"))

    @property
    def bytes_acked(self) -> int:
        """Payload bytes the peer has acknowledged."""
        return int(self.number("bytes_acked"))


def sockets(namespace: Namespace, *, local_port: int | None = None, peer_port: int | None = None) -> list[Socket]:
    """The namespace's TCP connections, listeners left out."""
    out = namespace.run("ss", "-tinOH", *_filter(local_port, peer_port)).stdout
    return [parse(line) for line in out.splitlines() if line.strip()]


def disconnect(namespace: Namespace, *, local_port: int | None = None, peer_port: int | None = None) -> None:
    """Resets the namespace's TCP connections, also those without an owner."""
    namespace.run("ss", "-tnHK", *_filter(local_port, peer_port))


def _filter(local_port: int | None, peer_port: int | None) -> list[str]:
    words = []
    if local_port is not None:
        words += ["sport", "=", f":{local_port}"]
    if peer_port is not None:
        words += ["dport", "=", f":{peer_port}"]
    return words


def parse(line: str) -> Socket:
    """One line of ``ss -tinOH``."""
    state, _recv, _send, local, peer, *rest = line.split()
    info: dict[str, str] = {}
    congestion_control = ""
    for word in rest:
        match = _FIELD.match(word)
        if match:
            info[match[1]] = match[2]
        elif not info:
            # 'ts sack ecn … cubic wscale:7,7': the last bare word before the first field.
            congestion_control = word
    info.update((name, rate) for name, rate in _RATE.findall(line))
    return Socket(
        state=state,
        local_port=int(local.rpartition(":")[2]),
        peer_port=int(peer.rpartition(":")[2]),
        congestion_control=congestion_control,
        info=info,
    )


class ByteCounter:
    """Samples ``bytes_received`` of all connections to or from one port of a namespace.

    A closed connection keeps the count it was last seen with: up to one interval of its bytes is
    missed. Connections that last are counted exactly.
    """

    def __init__(
        self,
        namespace: Namespace,
        *,
        local_port: int | None = None,
        peer_port: int | None = None,
        interval: float = 0.25,
    ) -> None:
        self._namespace = namespace
        self._ports = {"local_port": local_port, "peer_port": peer_port}
        self._interval = interval
        self._counts: dict[tuple[int, int], int] = {}
        self.times: list[float] = []  # time.monotonic()
        self.totals: list[int] = []
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)

    def total_at(self, moment: float) -> float:
        """Bytes that had arrived by a moment of ``time.monotonic()``, between samples by a line."""
        if not self.times:
            return 0.0
        right = bisect.bisect_left(self.times, moment)
        if right == 0:
            return float(self.totals[0])
        if right == len(self.times):
            return float(self.totals[-1])
        t0, t1 = self.times[right - 1], self.times[right]
        b0, b1 = self.totals[right - 1], self.totals[right]
        return b0 + (b1 - b0) * (moment - t0) / (t1 - t0)

    def rate(self, start: float, end: float) -> float:
        """Bits per second that arrived between two moments."""
        return (self.total_at(end) - self.total_at(start)) * 8 / (end - start)

    def sample(self) -> int:
        """Takes a sample now and returns the total."""
        now = time.monotonic()
        for socket in sockets(self._namespace, **self._ports):
            key = (socket.local_port, socket.peer_port)
            self._counts[key] = max(self._counts.get(key, 0), socket.bytes_received)
        total = sum(self._counts.values())
        self.times.append(now)
        self.totals.append(total)
        return total

    def _work(self) -> None:
        try:
            while not self._stop.is_set():
                self.sample()
                self._stop.wait(self._interval)
        except BaseException as error:  # shown by the thread that closes the context
            self._error = error

    def __enter__(self) -> Self:
        self.sample()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._error is not None and kind is None:
            raise self._error
