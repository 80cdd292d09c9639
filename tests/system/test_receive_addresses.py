# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""IPv4, IPv6, and IPv4 on an IPv6 socket: what arrives by each is understood, and yields."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from system.harness.commands import PROGRAMS, Pair, Run
from testbed import Process

#: A bottleneck, so that there is something to yield: on a bare cable TIDE rightly grows with its reader.
LINK = "rate 20mbit burst 10kb limit 200kb"
#: Bytes. Seen: at most 13,000 where netnice narrows the window, at least 236,000 where it does not.
NARROW = 50_000


def address(pair: Pair, kind: str) -> str:
    return {"IPv4": pair.b4, "IPv6": pair.b6, "mapped": f"::ffff:{pair.b4}"}[kind]


def fetch(pair: Pair, kind: str, *words: str) -> Process:
    """A download that tells its window's clamp five times a second."""
    pair.b.run("tc", "qdisc", "add", "dev", "veth0", "root", "tbf", *LINK.split())
    pour = pair.b.spawn(sys.executable, PROGRAMS / "pour.py", stdout=subprocess.PIPE)
    where = address(pair, kind), pour.line().strip(), "/"
    return pair.a.spawn(*words, sys.executable, PROGRAMS / "fetch.py", *where, stdout=subprocess.PIPE)


def clamps(process: Process, count: int = 5) -> list[int]:
    return [int(process.line()) for _ in range(count)]


def segments(netnicectl: Run) -> int:
    counters = json.loads(netnicectl("status", "--json").stdout)["receiver"]["counters"]
    assert counters["unstamped"] <= counters["segments"] / 10, "their timestamps are found"
    return int(counters["segments"])


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("kind", ["IPv4", "IPv6", "mapped"])
class TestAddresses:
    def test_a_command(self, netnicectl: Run, pair: Pair, kind: str) -> None:
        process = fetch(pair, kind, "netnice")
        assert max(clamps(process)) < NARROW
        assert segments(netnicectl) > 100

    def test_a_connection_in_use(self, netnice: Run, netnicectl: Run, pair: Pair, kind: str) -> None:
        process = fetch(pair, kind)
        assert min(clamps(process)) > 2 * NARROW, "the kernel's own"
        assert segments(netnicectl) == 0
        netnice("-n", "0", "-p", str(process.pid))
        # It joins amid a queue of its own, and takes up to two seconds to drain it and to see what is left.
        assert any(int(process.line()) < NARROW / 2 for _ in range(20))
        assert max(clamps(process)) < NARROW, "and it stays so"
        assert segments(netnicectl) > 100
        netnice("-n", "off", "-p", str(process.pid))
        clamps(process, 1)
        let_go = segments(netnicectl)
        clamps(process)
        assert segments(netnicectl) == let_go
