# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Real transfers over 10 Mbit/s and 40 ms, each way: netnice uses an idle path, yields, and comes back.

The bounds are far from what was seen, and from half, which two plain transfers have. The lab asserts how well it
yields, and the tier verify measures it.
"""

from __future__ import annotations

import time

import pytest

from system.harness.commands import netnice
from system.harness.path import RATE, Day, day, downloads
from testbed import Capture
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("fresh")
#: TOS of DSCP LE, without the bits of ECN.
LE = 4


def rates(made: Day, seconds: float) -> dict[str, float]:
    """The parts of the path's rate that A's connections have from now on, by what they run on."""
    before, begun = made.sent(), time.monotonic()
    time.sleep(seconds)
    lasted = time.monotonic() - begun
    return {name: 8 * (sent - before.get(name, 0)) / lasted / RATE for name, sent in made.sent().items()}


def test_uploads() -> None:
    with day() as made, made.uploads(4, "netnice") as yielding:
        wait_until(lambda: made.sent().get("netnice", 0) > 1 << 20, "the uploads", seconds=10)
        assert rates(made, 2)["netnice"] > 0.5, "alone they use the path"
        with made.download() as plain:
            wait_until(lambda: made.sent().get("cubic", 0) > 2 << 20, "the plain one", process=plain, seconds=20)
            with Capture(made.b) as seen:
                beside = rates(made, 4)
            assert beside["netnice"] < 0.3 < 0.5 < beside["cubic"], "they yield"
        wait_until(lambda: rates(made, 0.5)["netnice"] > 0.5, "them to come back", seconds=8)
        netnice("-n", "off", "-p", *(str(one.pid) for one in yielding))
        assert set(made.sent()) == {"cubic"}, "live ones are moved"
    data = [packet for packet in seen.packets if packet.payload > 0 and not packet.leaves]
    uploads = [packet for packet in data if packet.port == made.store.port]
    assert {packet.tos & ~3 for packet in uploads} == {LE}, "what yields is marked"
    assert {packet.tos & ~3 for packet in data if packet.source_port == made.web.port} == {0}


def test_downloads() -> None:
    with downloads() as net, net.start(net.web, "netnice") as yielding:
        wait_until(lambda: net.received(net.web) > 1 << 20, "the download", process=yielding, seconds=10)
        assert net.goodput(net.web, 2) > 0.5, "alone it uses the path"
        narrow = net.window(net.web)
        with net.start(net.other) as plain:
            wait_until(lambda: net.received(net.other) > 2 << 20, "the plain one", process=plain, seconds=20)
            assert net.share(4) < 0.3, "it yields"
        wait_until(lambda: net.goodput(net.web, 0.5) > 0.5, "it to come back", seconds=10)
        netnice("-n", "off", "-p", str(yielding.pid))
        wait_until(lambda: net.window(net.web) > 2 * narrow, "the kernel's window", seconds=10)
