# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What yields stays marked on the wire, whatever its program sets afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from system.harness.commands import Pair, marks, netnice, priority
from system.harness.ssh import Sshd
from testbed import Capture, Process, ownership
from testbed.namespace import wait_until
from testbed.servers import random_file

pytestmark = pytest.mark.usefixtures("up")

LE, THROUGHPUT, BACKGROUND = 4, 8, 257
SIZE = 12 << 20


def chooser(pair: Pair, version: int | str, *words: str) -> tuple[Process, int]:
    """A program that sends, sets a TOS of its own and the priority with it, and sends on."""
    port = int(pair.end(pair.b, "take").line())
    process = pair.end(pair.a, "chooses_tos", pair.to(version), str(port), str(THROUGHPUT), first=words)
    assert process.line() == "chosen\n"
    return process, port


@pytest.mark.parametrize("version", [4, 6, "mapped"])
def test_a_program_that_sets_its_own(pair: Pair, version: int | str) -> None:
    process, port = chooser(pair, version, "netnice")
    family = 6 if version == 6 else 4
    wait_until(lambda: marks(pair.a, family, "dport", port) == ("netnice", LE), "the mark to come back")
    assert priority(process.pid) == BACKGROUND


def test_without_a_mark_it_is_its_own(pair: Pair) -> None:
    process, port = chooser(pair, 4, "netnice", "--no-mark")
    assert marks(pair.a, 4, "dport", port) == ("netnice", THROUGHPUT)
    assert priority(process.pid) == 2


def test_taken_away_it_stays_away(pair: Pair) -> None:
    process, port = chooser(pair, 4, "netnice")
    wait_until(lambda: marks(pair.a, 4, "dport", port)[1] == LE, "the mark to come back")
    netnice("-n", "off", "-p", str(process.pid))
    assert marks(pair.a, 4, "dport", port)[1] == THROUGHPUT, "what it had set since"
    assert priority(process.pid) == 2
    netnice("--no-mark", "-n", "0", "-p", str(process.pid))
    assert marks(pair.a, 4, "dport", port) == ("netnice", THROUGHPUT)


@pytest.fixture
def sshd(pair: Pair) -> Iterator[Sshd]:
    with Sshd(pair.b) as server:
        yield server


@pytest.mark.parametrize("qos", ["", " -o IPQoS=throughput", " -o IPQoS=cs1"])
def test_rsync_over_ssh(pair: Pair, sshd: Sshd, qos: str) -> None:
    """OpenSSH sets its IPQoS once it has authenticated."""
    folder, to = ownership.scratch("rsync"), ownership.scratch("rsync-to")
    random_file(folder / "data", SIZE)
    with Capture(pair.b) as capture:
        pair.a.run("netnice", "rsync", "-e", sshd.command + qos, str(folder / "data"), f"root@{pair.b4}:{to}/")
    data = [packet for packet in capture.packets if packet.port == sshd.port]
    marked = sum(packet.payload for packet in data if packet.tos & ~3 == LE)
    assert sum(packet.payload for packet in data) > 0.9 * SIZE  # what the capture did not miss
    assert marked >= 0.99 * sum(packet.payload for packet in data)
