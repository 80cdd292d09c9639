# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What was moved meanwhile, and how: seen in the kernel's tables of connections and in the receiver's own count."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from system.harness.commands import call
from testbed import Namespace, sockets

#: Bytes below which a connection is one of control.
_MOVED = 300_000
_INTERVAL = 0.02


@dataclass
class Traffic:
    """Of connections that moved data."""

    #: The congestion controls that they ran on.
    controls: set[str] = field(default_factory=set)
    #: How many segments yielding connections received.
    segments: int = 0


@contextlib.contextmanager
def observed(namespace: Namespace) -> Iterator[Traffic]:
    """Looks at a namespace while the context lasts; complete afterwards."""
    traffic, ended = Traffic(), threading.Event()

    def look() -> None:
        while not ended.wait(_INTERVAL):
            traffic.controls |= {
                one.congestion_control
                for one in sockets(namespace)
                if max(one.bytes_received, one.bytes_acked) > _MOVED
            }

    before, looking = _segments(), threading.Thread(target=look)
    looking.start()
    try:
        yield traffic
    finally:
        ended.set()
        looking.join()
    traffic.segments = _segments() - before


def _segments() -> int:
    return int(json.loads(call("netnicectl", "status", "--json").stdout)["receiver"]["counters"]["segments"])
