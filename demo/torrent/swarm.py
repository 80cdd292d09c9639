# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The swarm: one client at home, the others and their tracker behind the access link."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

from demo.conditions import Scenario
from demo.torrent.conditions import Conditions, Load
from testbed import Namespace, Tracker, Transmission, program

#: DSCP LE (RFC 8622) as the byte that transmission sets.
_LE = "0x04"


@contextlib.contextmanager
def swarm(
    scenario: Scenario, load: Load, data: Path, c: Conditions, home: Namespace, net: Namespace
) -> Iterator[Transmission]:
    """Yields the client at home; only it is ever run under netnice."""
    # A client takes two peers of one address for the same, so each has its own.
    addresses = [f"10.77.0.{number}" for number in range(1, c.peers + 1)]
    for address in addresses:
        net.run("ip", "address", "add", f"{address}/32", "dev", "lo")
    home.run("ip", "route", "add", "10.77.0.0/24", "via", net.address)
    under = [program("netnice")] if scenario.kind == "netnice" else []
    tos = _LE if scenario.kind == "marked" else "default"
    with Tracker(net) as tracker, contextlib.ExitStack() as stack:
        torrent = tracker.announce(data)

        def client(namespace: Namespace, address: str, seeds: bool, under: list[str]) -> Transmission:
            utp = scenario.key == "utp"
            one = Transmission(namespace, address, torrent, seeds=seeds, utp=utp, tos=tos, under=under)
            return stack.enter_context(one)

        # Those who have it come first: the tracker tells the others of them.
        if load.direction == "up":
            own = client(home, home.address, True, under)
            clients = [own, *(client(net, address, False, []) for address in addresses)]
        else:
            clients = [client(net, address, True, []) for address in addresses]
            own = client(home, home.address, False, under)
            clients.append(own)
        try:
            yield own
        finally:
            for one in clients:  # all at once: each takes a second to say goodbye to the tracker
                one.process.signal(signal.SIGTERM)
