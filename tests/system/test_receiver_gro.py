# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Generic receive offload: the kernel joins segments before anybody sees them, and the receiver sees few arrivals."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from system.harness.commands import Run
from system.harness.days import say, until_trusted
from system.harness.documents import LARGEST, Window, documents
from testbed import Namespace, Nginx, Path, Veth, program, sockets

RATE = 20_000_000
#: How long the network card keeps segments to join them, ns: three full ones at this rate. Cards wait 0.2 ms at most.
KEPT = 2_000_000
#: What documents beside a download may not take of what they take alone, and not more of than with GRO off. A window
#: scatters by .07: see test_downloads_yield.py.
MOST, APART = 1.35, 0.2
#: There; so deep that a download which does not yield is told: documents then take 3.9 times as long.
QUEUE = "4bdp"


@contextmanager
def path_with_gro(queue: str = "1bdp") -> Iterator[tuple[Path, Namespace, str, Nginx]]:
    """A slow path to a router, and from it a cable whose far end joins what comes within 2 ms."""
    with (
        Namespace("www") as www,
        Namespace("router") as router,
        Namespace("home") as home,
        Path(www, router, rate=f"{RATE // 1_000_000}mbit", rtt="40ms", queue=queue) as link,
    ):
        server, path = www.address, json.loads(www.run("ip", "-json", "route").stdout)[0]["dev"]
        with Veth(router, home):
            router.sysctl("net.ipv4.ip_forward", "1")
            home.run("ip", "route", "add", server, "via", router.address)
            www.run("ip", "route", "add", "100.127.0.0/24", "dev", path)
            # A veth hands what it gets to GRO only if it came in single segments.
            router.run("ethtool", "-K", "veth0", "tso", "off", "gso", "off")
            home.run("ethtool", "-K", "veth0", "gro", "on")
            keep = f"cd /sys/class/net/veth0; echo {KEPT} >gro_flush_timeout; echo 1000 >napi_defer_hard_irqs"
            subprocess.run([program("ip"), "netns", "exec", home.name, program("sh"), "-c", keep], check=True)
            with Nginx(www, {"big": 1 << 34, "documents": LARGEST}) as web:
                yield link, home, f"http://{server}:{web.port}/big", web


def packets(namespace: Namespace) -> int:
    """That reached IP, joined ones as one."""
    names, values = (line.split() for line in namespace.run("grep", "^Ip:", "/proc/net/snmp").stdout.splitlines())
    return int(dict(zip(names, values, strict=True))["InReceives"])


def test_a_download_in_joined_segments_uses_an_idle_path(
    up: dict[int, str], netnicectl: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    def segments() -> int:
        return int(json.loads(netnicectl("status", "--json").stdout)["receiver"]["counters"]["segments"])

    def run() -> tuple[Path, tuple[float, float]]:
        earlier = segments()
        with path_with_gro() as (link, home, url, web), home.spawn("netnice", "curl", "-so", "/dev/null", url):

            def received() -> int:
                (connection,) = sockets(home, peer_port=web.port)
                return connection.bytes_received

            time.sleep(4)
            begun, before = time.monotonic(), received()
            time.sleep(6)
            goodput = 8 * (received() - before) / (time.monotonic() - begun) / RATE
            joined = (segments() - earlier) / packets(home)
        return link, (joined, goodput)

    joined, goodput = until_trusted(run)
    say(capsys, f"{joined:.1f} segments an arrival, {goodput:.2f} of the path")
    assert joined > 1.5, "or GRO did not join them, and this shows nothing"
    assert goodput > 0.85


def test_a_download_in_joined_segments_yields(up: dict[int, str], capsys: pytest.CaptureFixture[str]) -> None:
    """As it does in single ones: the same documents meet both, and neither."""

    def run() -> tuple[Path, list[Window]]:
        with path_with_gro(QUEUE) as (link, home, url, web):

            def window() -> Window:
                return documents(home, web, seed=2, seconds=3, load="5mbit")

            def join(how: str) -> None:
                home.run("ethtool", "-K", "veth0", "gro", how)

            alone = window()
            with home.spawn("netnice", "curl", "-so", "/dev/null", url) as download:
                time.sleep(2)
                joined = window()
                join("off")
                single = window()
                assert download.running()
            alone_single = window()
        return link, [alone, joined, alone_single, single]

    windows = until_trusted(run)
    assert not any(window.unfinished for window in windows)
    alone, joined, alone_single, single = (statistics.fmean(window.latencies) for window in windows)
    say(capsys, f"documents take {joined / alone:.2f} times as long with GRO, {single / alone_single:.2f} without")
    assert joined / alone < MOST
    assert joined / alone < single / alone_single + APART
