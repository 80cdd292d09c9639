# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What one connection runs on and is marked with, as the kernel's own tables say."""

from __future__ import annotations

import re

from testbed import Namespace
from testbed.sockets import parse


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
