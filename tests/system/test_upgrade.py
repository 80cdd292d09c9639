# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From a version that pinned its levels under other names: live connections go on, and no pin of it is left."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from system.harness import kernel
from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.pins import rewrite_state
from testbed import Namespace, sockets
from testbed.namespace import wait_until

#: What the version before called the levels' pins, by what they are called now.
OLD = {"netnice1": "nice1", "netnice2": "nice2"}
LINKS = kernel.PINS / "links"


@pytest.fixture
def older(down: dict[int, str], netnicectl: Run) -> dict[int, str]:
    """Pins and state as the version before left them; what is registered is ours, as its programs are not at hand."""
    netnicectl("up")
    for new, old in OLD.items():
        (LINKS / f"sender-{new}").rename(LINKS / f"sender-{old}")
    rewrite_state(version="0.0.1", build_id="0" * 64, algorithms=["nice", *OLD.values()])
    return down


def test_a_connection_of_the_version_before_lives_on(
    older: dict[int, str], netnicectl: Run, netnice: Run, pair: Pair
) -> None:
    with pair.b.spawn(sys.executable, PROGRAMS / "sink.py", "2e6", stdout=subprocess.PIPE) as sink:
        port = sink.line().strip()
        with pair.a.spawn(sys.executable, PROGRAMS / "send.py", pair.b4, port, "netnice1", "20") as sender:
            wait_until(lambda: running_on(pair.a, int(port)) == ["netnice1"], "the connection")
            assert netnicectl("up").stdout.count("by another build") == 1
            left = {path.name for path in LINKS.glob("sender-*")}
            assert left >= {"sender-netnice", "sender-netnice1", "sender-netnice2"}
            assert not left & {f"sender-{name}" for name in OLD.values()}
            before = received(pair.b, int(port))
            wait_until(lambda: received(pair.b, int(port)) > before, "its data to go on", seconds=15)
            netnice("-n", "2", "-p", str(sender.pid))
            assert running_on(pair.a, int(port)) == ["netnice2"]
            sender.wait(timeout=60)
            assert sender.returncode == 0
        count, _ = json.loads(sink.line())
        assert count > before
    netnicectl("down")
    kernel.assert_nothing_remains(older)


def running_on(namespace: Namespace, port: int) -> list[str]:
    return [one.congestion_control for one in sockets(namespace, peer_port=port) if one.state == "ESTAB"]


def received(namespace: Namespace, port: int) -> int:
    return sum(one.bytes_received for one in sockets(namespace, local_port=port))
