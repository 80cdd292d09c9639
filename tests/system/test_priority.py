# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""This host's own queues put what is marked last: a qdisc with bands tells it by SO_PRIORITY, not by DSCP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest

from system.harness.commands import PROGRAMS, Pair, Run
from testbed.namespace import wait_until

#: As of a modem on a short cable: 10 Mbit/s, 400 packets wait at most; pfifo_fast's bands are below.
LINK = ("tbf rate 10mbit burst 10kb limit 600kb", "parent 1:1 handle 10: pfifo_fast")
FLOWS = 16
PING = ("ping", "-i", "0.1", "-c", "30", "-q")


def last_band(pair: Pair) -> int:
    """Packets that left A by the last of three bands."""
    shown = pair.a.run("tc", "-s", "-json", "class", "show", "dev", "veth0").stdout
    (packets,) = (one["stats"]["packets"] for one in json.loads(shown) if one["handle"] == "1:3")
    return int(packets)


def bands(pair: Pair) -> None:
    pair.a.run("tc", "qdisc", "add", "dev", "veth0", "root", "handle", "1:", "prio", "bands", "3")


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("kind", ["IPv4", "IPv6", "mapped"])
def test_what_a_command_sends(pair: Pair, kind: str) -> None:
    bands(pair)
    server = pair.hold(pair.b, "listen")
    port = server.line().strip()
    address = {"IPv4": pair.b4, "IPv6": pair.b6, "mapped": f"::ffff:{pair.b4}"}[kind]
    assert last_band(pair) == 0
    pair.hold(pair.a, "connect", address, port, nice=True).line()
    assert last_band(pair) > 0, "from its first data on"


@pytest.mark.usefixtures("up")
def test_a_connection_in_use(pair: Pair, netnice: Run) -> None:
    """The priority goes on with the mark, and off with it."""
    bands(pair)
    with pair.a.spawn(sys.executable, PROGRAMS / "pour.py", stdout=subprocess.PIPE) as server:
        where = (pair.a4, server.line().strip(), "/")
        pair.b.spawn(sys.executable, PROGRAMS / "fetch.py", *where, stdout=subprocess.PIPE).line()
        assert last_band(pair) == 0
        for level, marked in (("0", True), ("off", False), ("1", True)):
            netnice("-n", level, "-p", str(server.pid))
            time.sleep(0.2)  # what was queued before is gone
            before = last_band(pair)
            time.sleep(0.5)
            assert (last_band(pair) > before) == marked
        netnice("-n", "1", "--no-mark", "-p", str(server.pid))
        time.sleep(0.2)
        before = last_band(pair)
        time.sleep(0.5)
        assert last_band(pair) == before


def test_a_ping_beside_a_full_queue_of_ones_own(down: dict[int, str], netnicectl: Run, pair: Pair) -> None:
    """Sixteen flows keep the queue of this host's link long; a ping goes before them, if they are marked."""
    pair.a.run("tc", "qdisc", "add", "dev", "veth0", "root", "handle", "1:", *LINK[0].split())
    pair.a.run("tc", "qdisc", "add", "dev", "veth0", *LINK[1].split())

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
