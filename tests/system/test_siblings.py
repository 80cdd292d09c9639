# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which connections count as siblings: those that send. The lab's experiment 'programs' has more."""

from __future__ import annotations

import subprocess
import time
from contextlib import ExitStack

import pytest

from system.harness.commands import end_as_text
from system.harness.path import Trial, day
from testbed import ByteCounter, Namespace, Path, sockets

pytestmark = pytest.mark.verify("real traffic for 20 s and more, for figures that the lab asserts")
RTT = "40ms"
#: s; a connection that has fallen silent counts for two turns of four.
SETTLED, MEASURED = 12, 10


@pytest.mark.parametrize(("idle", "warmed"), [(1, 1), (4, 1), (15, 1), (15, 60_000)])
def test_an_upload_beside_idle_connections(trial: Trial, idle: int, warmed: int) -> None:
    def goodput(words: tuple[str, ...]) -> float:
        with day(rate="20mbit", rtt=RTT) as at, at.b.spawn(*end_as_text("take"), stdout=subprocess.PIPE) as taker:
            port = int(taker.line())
            argv = end_as_text("pool", at.b.address, str(port), str(idle), str(warmed))
            with (
                at.a.spawn(*words, *argv, stdout=subprocess.PIPE) as upload,
                ByteCounter(at.b, local_port=port) as seen,
            ):
                assert upload.line() == "begins\n"
                time.sleep(SETTLED)
                begun = time.monotonic()
                time.sleep(MEASURED)
                return seen.rate(begun, begun + MEASURED)

    plain, nice = goodput(()), goodput(("netnice",))
    assert nice > 0.5 * plain
    trial(f"an upload beside {idle} idle connections of {warmed} bytes, of plain", nice / plain, "×", least=0.95)


def test_a_dual_stack_server_with_a_slow_client(trial: Trial) -> None:
    """Its IPv4 clients are ::ffff:a.b.c.d, 200 and 2 Mbit/s away: they share nothing."""
    rtts: list[float] = []
    with ExitStack() as stack:
        server, fast, slow = (stack.enter_context(Namespace(name)) for name in ("server", "fast", "slow"))
        pour = stack.enter_context(server.spawn("netnice", *end_as_text("pour"), stdout=subprocess.PIPE))
        port = pour.line().strip()
        for client, rate, queue in ((fast, "200mbit", "1bdp"), (slow, "2mbit", "170p")):
            stack.enter_context(Path(server, client, rate=rate, rtt=RTT, queue=queue))
            stack.enter_context(client.spawn(*end_as_text("drain", server.address, port)))
        time.sleep(SETTLED)
        for _ in range(20):
            time.sleep(0.5)
            rtts += [one.number("rtt") for one in sockets(server, local_port=int(port))]
    assert rtts
    trial("the RTT of a slow client beside a fast one, most of 10 s", max(rtts), "ms", most=150)
