# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Downloads in the background: curl fetches from a web server that knows nothing of it, over connections of CUBIC."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator

from demo.background import Background, ending, marking
from demo.conditions import Conditions, Scenario
from testbed import ByteCounter, Namespace, Nginx, TestbedError, program

ENDLESS = 1 << 34
"""Bytes: of no link that the demo has could a download of so much come to its end."""


@contextlib.contextmanager
def downloading(
    scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """Downloads while the context lasts; those by netnice must have been seen by the receiver."""
    earlier = yielded() if scenario.kind == "netnice" else 0
    before = [program("netnice")] if scenario.kind == "netnice" else []
    server = ["env", *(f"{name}={value}" for name, value in marking().items())] if scenario.kind == "marked" else []
    count = 0 if scenario.kind == "none" else conditions.downloads
    with (
        Nginx(sender, {"long": ENDLESS}, under=server) as web,
        ByteCounter(receiver, peer_port=web.port, interval=conditions.sample_s) as received,
        ending(
            receiver.spawn(*before, "curl", "--silent", "--output", "/dev/null", web.url("long")) for _ in range(count)
        ) as transfers,
    ):
        yield Background(transfers, received, {"local_port": web.port}, {"cubic"})
    if before and yielded() == earlier:
        raise TestbedError(f"scenario '{scenario.key}' is void: the receiver saw none of what the downloads brought")


def yielded() -> int:
    """Segments that the receiver has seen of connections that yield."""
    argv = [program("netnicectl"), "status", "--json"]
    status = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
    return int(status["receiver"]["counters"]["segments"])
