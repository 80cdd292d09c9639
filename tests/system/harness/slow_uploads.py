# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Uploads that are still at it when something else has happened."""

from __future__ import annotations

import sys

from system.harness.commands import PROGRAMS
from testbed import Namespace, sockets

SIZE = 20_000_000
#: Reads slowly enough to be still at it when the new version comes.
SINK = (sys.executable, PROGRAMS / "sink.py", "4e6")


def running_on(namespace: Namespace, ports: list[int]) -> list[str]:
    """The congestion controls of the connections to the ports, one each."""
    found = [one for port in ports for one in sockets(namespace, peer_port=port)]
    return [one.congestion_control for one in found if one.state == "ESTAB"]


def received(namespace: Namespace, port: int) -> int:
    """Bytes that have arrived there."""
    return sum(one.bytes_received for one in sockets(namespace, local_port=port))
