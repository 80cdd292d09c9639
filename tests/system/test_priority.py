# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""This host's own queues put what is marked last: they tell it by SO_PRIORITY, not by DSCP."""

from __future__ import annotations

import json
import re

import pytest

from measurements import Measure
from system.harness.commands import Pair, netnice, netnicectl, priority
from testbed.namespace import wait_until

#: As 802.1d has it, in the numbers that Wi-Fi heeds: see transport/policy/policy.bpf.c.
BACKGROUND = 257
#: As of a modem on a short cable: 10 Mbit/s, 400 packets wait at most, in pfifo_fast's three bands.
RATE, BANDS = "root handle 1: tbf rate 10mbit burst 10kb limit 600kb", "parent 1:1 handle 10: pfifo_fast"
FLOWS = 16
#: Bytes: 80 ms at that rate.
FULL = 100_000
PING = ("ping", "-i", "0.1", "-c", "30", "-q")


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("kind", [4, 6, "mapped"])
def test_what_a_command_opens_and_accepts(pair: Pair, kind: int | str) -> None:
    client, server, _ = pair.connect(kind, client=["netnice"], server=["netnice"])
    assert [priority(one.pid) for one in (client, server)] == [BACKGROUND, BACKGROUND]


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("version", [4, 6])
def test_a_connection_in_use(pair: Pair, version: int) -> None:
    """The priority goes on with the mark, and off with it."""
    client, server, _ = pair.connect(version)
    for end in (client, server):
        for words, expected in (
            (("-n", "0"), BACKGROUND),
            (("-n", "off"), 0),
            (("-n", "1"), BACKGROUND),
            (("-n", "1", "--no-mark"), 0),
        ):
            netnice(*words, "-p", str(end.pid))
            assert priority(end.pid) == expected


@pytest.mark.verify("traffic for 15 s")
def test_a_ping_beside_a_full_queue_of_ones_own(fresh: object, pair: Pair, measure: Measure) -> None:
    """Sixteen flows keep the queue of this host's link long; a ping goes before them, if they are marked."""
    for qdisc in (RATE, BANDS):
        pair.a.run("tc", "qdisc", "add", "dev", "veth0", *qdisc.split())

    def beside(*words: str) -> float:
        with pair.end(pair.a, "pour", first=["netnice", *words]) as server:
            port = server.line().strip()
            flows = [pair.end(pair.b, "fetch", pair.a4, port, "/") for _ in range(FLOWS)]
            wait_until(lambda: waits(pair) > FULL, "the queue to fill", process=flows[0], seconds=15)
            said = pair.a.run(*PING, pair.b4).stdout
            for flow in flows:
                flow.end()
        found = re.search(r"= [\d.]+/([\d.]+)/", said)
        assert found, said
        return float(found[1])

    netnicectl("set", "netnice", "force_window=81920")  # twenty segments each, whatever they meet
    marked, unmarked = beside(), beside("--no-mark")
    assert unmarked > 50, "the queue is long"
    assert marked < unmarked / 4
    measure("a ping beside sixteen marked flows of this host", marked, "ms", most=5)


def waits(pair: Pair) -> int:
    """Bytes in the queue of the first end."""
    shown = json.loads(pair.a.run("tc", "-json", "-s", "qdisc", "show", "dev", "veth0").stdout)
    return int(next(one["backlog"] for one in shown if one["kind"] == "tbf"))
