# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Bytes that arrived over time, from the receiver's own sockets."""

from __future__ import annotations

import bisect
import threading
import time
from typing import Self

from testbed.namespace import Namespace
from testbed.sockets import sockets


class ByteCounter:
    """Samples ``bytes_received`` of all connections to or from one port of a namespace.

    A connection that closed keeps the count it was last seen with, so up to one interval of its bytes
    is missed; connections that last are counted exactly.
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
