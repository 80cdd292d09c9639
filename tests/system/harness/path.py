# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A slow path between two hosts, what sends over it, and what is measured there.

A figure is a measurement, and fails no test. If the machine could not keep the path's time the run is void. The
figure's name says so, and such figures have a history of their own.
"""

from __future__ import annotations

import contextlib
import json
import math
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from measurements import Measure
from testbed import ByteCounter, Namespace, Nginx, Packet, Path, Process, RsyncDaemon, disconnect, scratch, sockets

#: Bits a second.
RATE = 10_000_000
SIZE = 1 << 34
#: Bytes of the largest document.
LARGEST = 128 << 10
#: s; pairs are at least 20 ms apart wherever this is used.
TOGETHER = 0.005
T = TypeVar("T")


@dataclass(frozen=True)
class Day:
    """Sender A with a web server, receiver B with an rsync daemon, and the path between them: all flows from A to B."""

    a: Namespace
    b: Namespace
    path: Path
    web: Nginx
    store: RsyncDaemon

    def download(self, web: Nginx | None = None) -> Process:
        """A long download by B."""
        return self.b.spawn("curl", "-sf", "-o", "/dev/null", (web or self.web).url("long"))

    @contextlib.contextmanager
    def uploads(self, count: int, *words: str, bytes_each: int = 1 << 30) -> Iterator[list[Process]]:
        """``count`` long uploads by A, run with ``words``: "netnice", or nothing. They leave no packet behind."""
        source = scratch("upload") / "file"
        with source.open("wb") as file:
            file.truncate(bytes_each)
        with contextlib.ExitStack() as stack:
            running = [
                stack.enter_context(
                    # Zeros are as long as anything on the path; --sparse spares the receiver's disk.
                    self.a.spawn(*words, "rsync", "--whole-file", "--sparse", "--inplace", source, folder)
                )
                # Each a folder of its own: of two rsyncs that make the same one at once, one gives up.
                for folder in (self.store.url(f"{source.parent.name}-{n}") for n in range(count))
            ]
            try:
                yield running
            finally:
                # Asked to end, rsync goes on for 3 s. The kernel sends the rest of its data, however long that takes
                # beside a download: the next measurement would compete with it.
                for upload in running:
                    upload.signal(signal.SIGKILL)
                disconnect(self.a, peer_port=self.store.port)

    def arriving_uploads(self, interval: float = 0.1) -> ByteCounter:
        """Counts what B receives of uploads."""
        return ByteCounter(self.b, local_port=self.store.port, interval=interval)

    def arriving_downloads(self) -> ByteCounter:
        """Counts what B receives of downloads."""
        return ByteCounter(self.b, peer_port=self.web.port, interval=0.1)

    def sent(self) -> dict[str, int]:
        """Acknowledged bytes of all that A sends, by what it runs on."""
        found: dict[str, int] = {}
        for one in sockets(self.a):
            found[one.congestion_control] = found.get(one.congestion_control, 0) + one.bytes_acked
        return found

    def upload_congestion_controls(self) -> set[str]:
        """What the kernel says the uploads run on."""
        found = sockets(self.a, peer_port=self.store.port)
        return {s.congestion_control for s in found if s.state == "ESTAB"}


@contextlib.contextmanager
def day(**path: Any) -> Iterator[Day]:
    """A fresh path of 10 Mbit/s, 40 ms and 1 BDP, or as ``path`` says."""
    with (
        Namespace("a") as a,
        Namespace("b") as b,
        Path(a, b, interval="50ms", **{"rate": "10mbit", "rtt": "40ms", **path}) as link,
        Nginx(a, {"long": SIZE}) as web,
        RsyncDaemon(b) as store,
    ):
        yield Day(a, b, link, web, store)


@dataclass(frozen=True)
class Downloads:
    """Home, at the end of a path of 10 Mbit/s and 40 ms, and two web servers at the other, told apart by their port."""

    www: Namespace
    home: Namespace
    path: Path
    web: Nginx
    other: Nginx

    def start(self, server: Nginx, *words: str) -> Process:
        """A download without end; ``words`` run it."""
        return self.home.spawn(*words, "curl", "-so", "/dev/null", server.url("big"))

    def received(self, server: Nginx) -> int:
        """Bytes that its connections have brought."""
        return sum(s.bytes_received for s in sockets(self.home, peer_port=server.port))

    def window(self, server: Nginx) -> float:
        """What the kernel is ready to advertise to it, bytes."""
        (connection,) = sockets(self.home, peer_port=server.port)
        return connection.number("rcv_ssthresh")

    def goodput(self, server: Nginx, seconds: float) -> float:
        """The part of the path's rate that it uses, from now on."""
        return self.goodputs(seconds, server)[0]

    def goodputs(self, seconds: float, *servers: Nginx) -> list[float]:
        """The same of several, at once."""
        before, begun = [self.received(server) for server in servers], time.monotonic()
        time.sleep(seconds)
        after, lasted = [self.received(server) for server in servers], time.monotonic() - begun
        return [8 * (b - a) / lasted / RATE for a, b in zip(before, after, strict=True)]

    def share(self, seconds: float) -> float:
        """What the first server's download gets of what both get."""
        first, second = self.goodputs(seconds, self.web, self.other)
        return first / (first + second)


@contextlib.contextmanager
def downloads() -> Iterator[Downloads]:
    """The network, for a while."""
    with (
        Namespace("www") as www,
        Namespace("home") as home,
        Path(www, home, rate="10mbit", rtt="40ms") as path,
        Nginx(www, {"big": SIZE}) as web,
        Nginx(www, {"big": SIZE}) as other,
    ):
        yield Downloads(www, home, path, web, other)


class Trial:
    """Measurements on paths, each made once. It begins with netnice loaded anew: dead connections are siblings."""

    def __init__(self, measure: Measure) -> None:
        self._measure, self._void = measure, ""

    def on_a_path(self, work: Callable[[Day], T], *, stall: float = math.inf, **path: Any) -> T:
        """What ``work`` finds on such a path; a machine that stands still for more than ``stall`` s makes it void."""
        with day(**path) as made:
            found = work(made)
        self.judge(made.path, stall)
        return found

    def judge(self, path: Path, stall: float = math.inf) -> bool:
        """Whether the machine kept the time of a path that is gone by now."""
        longest = path.summary["wake_ups"]["max_us"] / 1e6
        if path.trusted and longest <= stall:
            return True
        self._void = " (void: the machine did not keep the path's time)"
        print("void:", *path.summary["reasons"], f"it stood still for {longest * 1e3:.1f} ms", sep="\n  ")
        return False

    def __call__(
        self, says: str, value: float, unit: str, *, least: float | None = None, most: float | None = None
    ) -> None:
        self._measure(says + self._void, value, unit, least=least, most=most)


@dataclass(frozen=True)
class Window:
    """What documents met, and what came beside them meanwhile."""

    latencies: list[float]  # ms
    unfinished: int
    goodput_bps: float
    beside_bps: float


def documents(
    home: Namespace,
    web: Nginx,
    seed: int,
    seconds: float,
    beside: ByteCounter | None = None,
    load: str = "2500kbit",
) -> Window:
    """Lets twelve clients at home want documents for so long, the same ones for the same seed; waits for the last.

    ``web`` must have a file "documents" of LARGEST bytes; ``beside`` counts what the background brings.
    """
    report = scratch("documents") / "report.json"
    words = ["--load", load, "--seconds", str(seconds), "--seed", str(seed), "--max", str(LARGEST), "--grace", "4"]
    with home.spawn("netnice-fetch", web.url("documents"), *words, "--output", report) as clients:
        _, error = clients.wait(seconds + 10)
    assert clients.returncode == 0, error
    said = json.loads(report.read_text())
    summary, begun = said["summary"], said["started_monotonic_us"] / 1e6
    return Window(
        [document["latency_us"] / 1e3 for document in said["documents"] if document["latency_us"] is not None],
        summary["unfinished"] + summary["failed"],
        summary["goodput_bps"],
        beside.rate(begun, min(begun + seconds, time.monotonic())) if beside else 0.0,
    )


def bursts(packets: Iterable[Packet]) -> list[tuple[float, int]]:
    """When each burst of segments that left together began, and how many it had; of packets with payload, one way."""
    found: list[tuple[float, int]] = []
    last = float("-inf")
    for packet in packets:
        if packet.seconds - last > TOGETHER:
            found.append((packet.seconds, 1))
        else:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        last = packet.seconds
    return found


def round_trips(packets: Iterable[Packet]) -> list[float]:
    """Seconds from a segment that left to the first acknowledgement of it, once for each acknowledgement."""
    sent: dict[int, float] = {}
    found = []
    for packet in packets:
        if packet.leaves and packet.payload > 0:
            sent.setdefault((packet.sequence + packet.payload) % 2**32, packet.seconds)
        elif not packet.leaves and packet.acknowledged in sent:
            found.append(packet.seconds - sent.pop(packet.acknowledged))
    return found
