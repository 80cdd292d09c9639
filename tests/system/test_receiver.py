# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A real download from a server that knows nothing of netnice: its receiver narrows the window, and lets go of it."""

from __future__ import annotations

import json
import re
import subprocess
import time
from typing import Any

from system.harness.commands import Run
from system.harness.days import until_trusted
from testbed import Namespace, Nginx, Path, program

SIZE = 64 << 20
RATE = 10.0


def seen(home: Namespace) -> tuple[int, int]:
    """Bytes received and the receiver's slow-start threshold, which bounds what it advertises."""
    text = home.run("ss", "-tin").stdout
    words = [re.search(rf"{name}:(\d+)", text) for name in ("bytes_received", "rcv_ssthresh")]
    assert all(words), text
    received, threshold = (int(word[1]) for word in words if word)
    return received, threshold


def test_a_download_yields_and_is_let_go(up: dict[int, str], netnicectl: Run) -> None:
    def run() -> tuple[Path, tuple[float, int, int, dict[str, Any]]]:
        netnicectl("up")
        with (
            Namespace("www") as www,
            Namespace("home") as home,
            Path(www, home, rate="10mbit", rtt="40ms") as link,
            Nginx(www, {"big": SIZE}) as server,
            home.spawn("netnice", "curl", "-so", "/dev/null", server.url("big"), stdout=subprocess.PIPE),
        ):
            time.sleep(4)
            before, _ = seen(home)
            time.sleep(4)
            after, narrow = seen(home)
            status = json.loads(netnicectl("status", "--json").stdout)["receiver"]
            netnicectl("down")
            time.sleep(1)
            _, wide = seen(home)
        return link, ((after - before) * 8e-6 / 4, narrow, wide, status)

    goodput, narrow, wide, status = until_trusted(run)
    assert goodput > 0.6 * RATE, "alone it uses the path"
    assert narrow < 3 * 50_000, "a window of the path, not of the kernel's buffers"
    assert status["algorithm"] == "tide"
    assert status["counters"]["connections"] == 1
    assert status["counters"]["segments"] > 1000
    assert wide > 2 * narrow, "the kernel tunes the window again"


def test_the_direction_is_told_and_adds_up(up: dict[int, str], netnice: Run) -> None:
    me = program("netnice")
    assert netnice(me).stdout == "0\n"
    assert netnice("--send-only", me).stdout == "0 send only\n"
    assert netnice("--receive-only", me).stdout == "0 receive only\n"
    assert netnice("--receive-only", me, "--send-only", me).stdout == "0\n"
