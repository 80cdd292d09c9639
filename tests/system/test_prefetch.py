# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice-prefetch before a real web server: which congestion control each reply of one connection is sent on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from system.harness.commands import PROGRAMS, Pair
from testbed import Nginx, program, scratch, sockets
from testbed.namespace import free_port, listens, wait_until

SIZE = 800_000
PREFETCH = ("--header", "Sec-Purpose: prefetch")
FRESH_WINDOW = 10


@pytest.fixture
def site(pair: Pair) -> Iterator[str]:
    """The proxy's address before a site of two files that browsers may keep."""
    with Nginx(pair.a, {"next": SIZE, "demanded": SIZE}) as web:
        for name in ("next", "demanded"):
            os.utime(web.folder / "www" / name, (0, time.time() - 86_400))
        port = free_port(pair.a)
        store = scratch("prefetch") / "learned.redb"
        argv = (f"http://{pair.a4}:{web.port}", "--listen", f"{pair.a4}:{port}", "--store", str(store))
        proxy = pair.a.spawn(program("netnice-prefetch"), *argv)
        wait_until(lambda: listens(pair.a, port), "the proxy", process=proxy)
        yield f"http://{pair.a4}:{port}"


def sends_on(pair: Pair, site: str) -> list[tuple[str, float]]:
    """Congestion control and window of the proxy's connections to browsers."""
    port = int(site.rpartition(":")[2])
    found = sockets(pair.a, local_port=port)
    return [(s.congestion_control, s.number("cwnd")) for s in found if s.state == "ESTAB"]


@pytest.mark.usefixtures("up")
def test_a_prefetch_is_sent_on_netnice_and_what_follows_is_not(pair: Pair, site: str) -> None:
    host, port = site.removeprefix("http://").split(":")
    words = (sys.executable, PROGRAMS / "browse.py", host, port, "/next", "/demanded")
    browser = pair.b.spawn(*words, stdout=subprocess.PIPE)
    found: list[tuple[str, float]] = []
    for _ in range(2):
        assert browser.line() == f"200 {SIZE}\n"
        found += sends_on(pair, site)
    assert [name for name, _ in found] == ["netnice", "cubic"]
    assert found[-1][1] >= FRESH_WINDOW, "the demanded reply inherits a small window"


@pytest.mark.usefixtures("down")
def test_without_netnice_it_still_serves(pair: Pair, site: str) -> None:
    pair.b.run("curl", "-sSf", "--output", "/dev/null", *PREFETCH, f"{site}/next")
    assert {name for name, _ in sends_on(pair, site)} <= {"cubic"}
