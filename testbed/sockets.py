# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP sockets as the kernel's own tables show them, ``ss -tinOH``, and their end."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
    """Resets the namespace's TCP connections, also those that nobody owns any more."""
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
