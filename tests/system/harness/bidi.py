# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""WebDriver BiDi, the one protocol that drives Chromium and Firefox alike: JSON over a WebSocket."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import threading
import time
from typing import Any

from websockets.sync.client import connect

from testbed import Namespace, TestbedError

_CLONE_NEWNET = 0x40000000
_PATIENCE = 30.0


def inside(namespace: Namespace, port: int) -> socket.socket:
    """A connection to a port of the namespace's loopback, for this process outside."""
    made: list[socket.socket | Exception] = []

    def enter() -> None:
        try:
            with namespace.file.open() as handle:
                if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), _CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(namespace.file))
            made.append(socket.create_connection(("127.0.0.1", port), _PATIENCE))
        except Exception as e:
            made.append(e)

    # A namespace is a thread's: this one ends in there.
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if isinstance(made[0], Exception):
        raise made[0]
    return made[0]


class Bidi:
    """A browser that takes commands; what it tells of its own accord is kept in ``events``."""

    def __init__(self, namespace: Namespace, port: int, path: str) -> None:
        # proxy=None: the caller's own http_proxy is not the namespace's.
        connection = connect(
            f"ws://127.0.0.1:{port}{path}",
            sock=inside(namespace, port),
            proxy=None,
            compression=None,
            max_size=None,
            open_timeout=_PATIENCE,
        )
        self._parts = contextlib.ExitStack()
        self._socket = self._parts.enter_context(connection)
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """What the browser answers to a command; an error of its own is a :class:`TestbedError`."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        deadline = time.monotonic() + _PATIENCE
        while True:
            said = json.loads(self._socket.recv(timeout=max(0.0, deadline - time.monotonic())))
            if said.get("type") == "event":
                self.events.append(said)
            elif said.get("id") == self._number:
                break
        if said["type"] == "error":
            raise TestbedError(f"the browser refuses {method}: {said['error']}: {said['message']}")
        result: dict[str, Any] = said["result"]
        return result

    def close(self) -> None:
        self._parts.close()
