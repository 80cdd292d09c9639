# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Downloads over a slow path from servers that know nothing of it: receivers narrow the window, and let go of it.

Also of live connections (netnice -p), and where the kernel joins segments before the receiver sees them (GRO). What is
asserted is coarse: figures are measured.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from system.harness import kernel
from system.harness.commands import netnice, netnicectl, receiver, status
from system.harness.path import LARGEST, Trial, Window, documents, downloads
from testbed import Namespace, Nginx, Path, Veth, program, sockets
from testbed.namespace import wait_until

pytestmark = pytest.mark.verify("real traffic for 5 s and more")
#: Of the path to a router, and from there a cable whose far end joins what comes within 2 ms.
_GRO_RATE = 20_000_000
#: How long the network card keeps segments to join them, ns: three full ones at this rate. Cards wait 0.2 ms at most.
_KEPT = 2_000_000


def test_a_download_yields_and_is_let_go(trial: Trial) -> None:
    with downloads() as net, net.start(net.web, "netnice"):
        wait_until(lambda: net.received(net.web) > 3 << 20, "the transfer", seconds=15)
        goodput, narrow, told = net.goodput(net.web, 4), net.window(net.web), status()["receiver"]
        netnicectl("down")
        wait_until(lambda: net.window(net.web) > 2 * narrow, "the kernel's window", seconds=10)
    trial.judge(net.path)
    assert goodput > 0.3, "alone it uses the path"
    assert narrow < 300_000, "a window of the path, not of the kernel's buffers"
    assert (told["algorithm"], told["counters"]["connections"]) == ("tide", 1)
    assert told["counters"]["segments"] > 1000
    trial("a download alone, of the path", goodput, "×", least=0.6)
    trial("its window", narrow / 1000, "kB", most=150)


class TestLive:
    def test_it_begins_to_yield_and_stops(self, trial: Trial) -> None:
        """Alone it uses the path all the time, and is not thrown back to the window of a new connection."""
        with downloads() as net, net.start(net.web) as first:
            wait_until(lambda: net.received(net.web) > 3 << 20, "the transfer", seconds=15)
            plain, wide = net.goodput(net.web, 2), net.window(net.web)
            netnice("-n", "0", "--receive-only", "-p", str(first.pid))
            assert netnice("-p", str(first.pid)).stdout == "0 receive only\n"
            alone, narrow = net.goodput(net.web, 5), net.window(net.web)
            with net.start(net.other):
                time.sleep(3)
                yielding = net.share(4)
                netnice("-n", "off", "-p", str(first.pid))
                time.sleep(3)
                let_go = net.share(4)
        trial.judge(net.path)
        assert min(plain, alone) > 0.3
        assert narrow < wide / 2, "a window of the path, not of the kernel's buffers"
        assert yielding < 0.35
        trial("a download that has begun to yield, alone, of the path", alone, "×", least=0.6)
        trial("the same beside another, of both", yielding, "×", most=0.15)
        trial("and 3 s after it has stopped", let_go, "×", least=max(0.2, 2 * yielding))

    def test_it_is_killed_meanwhile(self, fresh: dict[int, str]) -> None:
        """Nothing is left of its connections, and the next one is adopted as well."""
        with downloads() as net:
            for count in (1, 2):
                with net.start(net.web) as doomed:
                    wait_until(lambda: net.received(net.web) > 500_000, "the transfer", process=doomed)
                    netnice("-n", "0", "-p", str(doomed.pid))
                    seen = receiver()["segments"]
                    wait_until(lambda seen=seen: receiver()["segments"] > seen, "it to be handled", process=doomed)  # type: ignore[misc]
                    os.kill(doomed.pid, signal.SIGKILL)
                assert receiver()["adopted"] == count
        netnicectl("down")
        kernel.assert_nothing_remains(fresh)

    def test_down_meanwhile(self, trial: Trial, fresh: dict[int, str]) -> None:
        """Live ones carry on at full speed, and nothing remains."""
        with downloads() as net, net.start(net.web) as first, net.start(net.other):
            wait_until(lambda: net.received(net.web) > 2_000_000, "the transfer", process=first, seconds=15)
            netnice("-n", "0", "--receive-only", "-p", str(first.pid))
            time.sleep(6)
            yielding, narrow = net.share(3), net.window(net.web)
            netnicectl("down")
            kernel.assert_nothing_remains(fresh)
            wait_until(lambda: net.window(net.web) > 2 * narrow, "the kernel's window", seconds=10)
            time.sleep(2)
            let_go = net.share(4)
        trial.judge(net.path)
        trial("a download after a down, of both", let_go, "×", least=max(0.2, 2 * yielding))

    def test_an_idle_one_gets_its_window_back(self, fresh: dict[int, str]) -> None:
        """Also one that sends no ACK while netnice goes down: nothing would do it afterwards."""
        with downloads() as net, net.start(net.web) as first:
            wait_until(lambda: net.received(net.web) > 500_000, "the transfer", process=first)
            netnice("-n", "0", "--receive-only", "-p", str(first.pid))
            time.sleep(2)
            narrow = net.window(net.web)
            net.web.process.signal(signal.SIGSTOP)
            wait_until(lambda: net.goodput(net.web, 0.5) == 0, "the last of what it had sent", seconds=20)
            netnicectl("down")
            kernel.assert_nothing_remains(fresh)
            net.web.process.signal(signal.SIGCONT)
            wait_until(lambda: net.window(net.web) > 2 * narrow, "the kernel's window", seconds=10)


@contextmanager
def path_with_gro(queue: str = "1bdp") -> Iterator[tuple[Path, Namespace, str, Nginx]]:
    """A slow path to a router, and from it a cable whose far end joins what comes."""
    with (
        Namespace("www") as www,
        Namespace("router") as router,
        Namespace("home") as home,
        Path(www, router, rate=f"{_GRO_RATE // 1_000_000}mbit", rtt="40ms", queue=queue) as link,
    ):
        server, path = www.address, json.loads(www.run("ip", "-json", "route").stdout)[0]["dev"]
        with Veth(router, home):
            router.sysctl("net.ipv4.ip_forward", "1")
            home.run("ip", "route", "add", server, "via", router.address)
            www.run("ip", "route", "add", "100.127.0.0/24", "dev", path)
            # A veth hands what it gets to GRO only if it came in single segments.
            router.run("ethtool", "-K", "veth0", "tso", "off", "gso", "off")
            home.run("ethtool", "-K", "veth0", "gro", "on")
            keep = f"cd /sys/class/net/veth0; echo {_KEPT} >gro_flush_timeout; echo 1000 >napi_defer_hard_irqs"
            subprocess.run([program("ip"), "netns", "exec", home.name, program("sh"), "-c", keep], check=True)
            with Nginx(www, {"big": 1 << 34, "documents": LARGEST}) as web:
                yield link, home, f"http://{server}:{web.port}/big", web


def packets(namespace: Namespace) -> int:
    """That reached IP, joined ones as one."""
    names, values = (line.split() for line in namespace.run("grep", "^Ip:", "/proc/net/snmp").stdout.splitlines())
    return int(dict(zip(names, values, strict=True))["InReceives"])


class TestJoinedSegments:
    def test_it_uses_an_idle_path(self, trial: Trial) -> None:
        with path_with_gro() as (link, home, url, web), home.spawn("netnice", "curl", "-so", "/dev/null", url):

            def received() -> int:
                return sum(one.bytes_received for one in sockets(home, peer_port=web.port))

            wait_until(lambda: received() > 4 << 20, "the transfer", seconds=15)
            begun, before = time.monotonic(), received()
            time.sleep(6)
            goodput = 8 * (received() - before) / (time.monotonic() - begun) / _GRO_RATE
            joined = receiver()["segments"] / packets(home)
        trial.judge(link)
        assert joined > 1.5, "or GRO did not join them, and this shows nothing"
        assert goodput > 0.4
        trial("a download in joined segments, of an idle path", goodput, "×", least=0.85)

    def test_it_yields(self, trial: Trial) -> None:
        """As it does in single ones: the same documents meet both, and neither. The queue is so deep that a download
        which does not yield is told: documents then take 3.9 times as long.
        """
        with path_with_gro("4bdp") as (link, home, url, web):

            def window() -> Window:
                return documents(home, web, seed=2, seconds=3, load="5mbit")

            alone = window()
            with home.spawn("netnice", "curl", "-so", "/dev/null", url) as download:
                time.sleep(2)
                joined = window()
                home.run("ethtool", "-K", "veth0", "gro", "off")
                single = window()
                assert download.running()
        trial.judge(link)
        assert not any(window.unfinished for window in (alone, joined, single))
        ms, beside, off = (statistics.fmean(window.latencies) for window in (alone, joined, single))
        assert beside / ms < 2.5
        trial("documents beside a download in joined segments, against alone", beside / ms, "×", most=1.35)
        trial("the same against one in single segments", beside / off, "×", most=1.2)
