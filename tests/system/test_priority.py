# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""This host's own queues put what is marked last: they tell it by SO_PRIORITY, not by DSCP."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest

from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.marks import priority
from testbed.namespace import wait_until

#: As 802.1d has it, in the numbers that Wi-Fi heeds: see transport/policy/policy.bpf.c.
BACKGROUND = 257
#: As of a modem on a short cable: 10 Mbit/s, 400 packets wait at most, in pfifo_fast's three bands.
RATE, BANDS = "root handle 1: tbf rate 10mbit burst 10kb limit 600kb", "parent 1:1 handle 10: pfifo_fast"
FLOWS = 16
PING = ("ping", "-i", "0.1", "-c", "30", "-q")


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("kind", ["IPv4", "IPv6", "mapped"])
def test_what_a_command_opens_and_accepts(pair: Pair, kind: str) -> None:
    server = pair.hold(pair.b, "listen", nice=True)
    port = server.line().strip()
    address = {"IPv4": pair.b4, "IPv6": pair.b6, "mapped": f"::ffff:{pair.b4}"}[kind]
    client = pair.hold(pair.a, "connect", address, port, nice=True)
    client.line()
    assert [priority(one.pid) for one in (client, server)] == [BACKGROUND, BACKGROUND]


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("version", [4, 6])
def test_a_connection_in_use(pair: Pair, netnice: Run, version: int) -> None:
    """The priority goes on with the mark, and off with it."""
    server = pair.hold(pair.b, "listen")
    port = server.line().strip()
    client = pair.hold(pair.a, "connect", pair.b4 if version == 4 else pair.b6, port)
    client.line()
    for end in (client, server):
        for words, expected in (
            (("-n", "0"), BACKGROUND),
            (("-n", "off"), 0),
            (("-n", "1"), BACKGROUND),
            (("-n", "1", "--no-mark"), 0),
        ):
            netnice(*words, "-p", str(end.pid))
            assert priority(end.pid) == expected


def test_a_ping_beside_a_full_queue_of_ones_own(down: dict[int, str], netnicectl: Run, pair: Pair) -> None:
    """Sixteen flows keep the queue of this host's link long; a ping goes before them, if they are marked."""
    for qdisc in (RATE, BANDS):
        pair.a.run("tc", "qdisc", "add", "dev", "veth0", *qdisc.split())

    def beside(*words: str) -> float:
        with pair.a.spawn("netnice", *words, sys.executable, PROGRAMS / "pour.py", stdout=subprocess.PIPE) as server:
            where = (pair.a4, server.line().strip(), "/")
            flows = [pair.b.spawn(sys.executable, PROGRAMS / "fetch.py", *where) for _ in range(FLOWS)]
            wait_until(lambda: "ESTAB" in pair.a.run("ss", "-tH").stdout, "the flows", process=flows[0])
            time.sleep(3)
            said = pair.a.run(*PING, pair.b4).stdout
            for flow in flows:
                flow.end()
        found = re.search(r"= [\d.]+/([\d.]+)/", said)
        assert found, said
        return float(found[1])

    netnicectl("up")
    netnicectl("set", "netnice", "force_window=81920")  # twenty segments each, whatever they meet
    marked, unmarked = beside(), beside("--no-mark")
    print(f"ping: {marked:.1f} ms beside marked flows, {unmarked:.0f} beside unmarked")
    assert unmarked > 50, "the queue is long"
    assert marked < 5
