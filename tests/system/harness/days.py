# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A path between two hosts with senders on one side: what the tests of its good and bad days share.

Everything flows from A to B, over the same queue. A run during which the machine could not keep the
path's time is void: it is repeated, and never for another reason.
"""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from testbed import ByteCounter, Namespace, Nginx, Path, Process, RsyncDaemon, disconnect, netnice_up, scratch, sockets

RATE_BPS = 10_000_000
ATTEMPTS = 4
T = TypeVar("T")


@dataclass(frozen=True)
class Day:
    """Sender A with a web server, receiver B with an rsync daemon, and the path between them."""

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
                # Asked to end, rsync goes on for 3 s, and what it has not sent the kernel sends for it, however long
                # that takes beside a download: the next that is measured would compete with it.
                for upload in running:
                    upload.signal(signal.SIGKILL)
                disconnect(self.a, peer_port=self.store.port)

    def arriving_uploads(self, interval: float = 0.1) -> ByteCounter:
        """Counts what B receives of uploads."""
        return ByteCounter(self.b, local_port=self.store.port, interval=interval)

    def arriving_downloads(self, web: Nginx | None = None) -> ByteCounter:
        """Counts what B receives of downloads."""
        return ByteCounter(self.b, peer_port=(web or self.web).port, interval=0.1)

    def upload_congestion_controls(self) -> set[str]:
        """What the kernel says the uploads run on."""
        found = sockets(self.a, peer_port=self.store.port)
        return {s.congestion_control for s in found if s.state == "ESTAB"}


def on_a_path(measure: Callable[[Day], T], *, stall: float = math.inf, **path: Any) -> T:
    """Measures on a fresh 10 Mbit/s, 40 ms, 1-BDP path, or as ``path`` says; again while it is void.

    A run in which the machine stood still for more than ``stall`` seconds is void too.
    """
    path = {"rate": "10mbit", "rtt": "40ms", **path}

    def run() -> tuple[Path, T]:
        with (
            netnice_up(),
            Namespace("a") as a,
            Namespace("b") as b,
            Path(a, b, interval="50ms", **path) as link,
            Nginx(a, {"long": 1 << 34}) as web,
            RsyncDaemon(b) as store,
        ):
            return link, measure(Day(a, b, link, web, store))

    return until_trusted(run, stall)


def until_trusted(run: Callable[[], tuple[Path, T]], stall: float = math.inf) -> T:
    """What was measured on a path that ``run`` has left by then; again while it is void."""
    reasons: list[str] = []
    for attempt in range(ATTEMPTS):
        time.sleep(10 * attempt)  # who steals the CPU often stops soon
        link, figures = run()
        longest = link.summary["wake_ups"]["max_us"] / 1e6
        if link.trusted and longest <= stall:
            return figures
        reasons += link.summary["reasons"] or [f"it stood still for {longest * 1e3:.1f} ms"]
    pytest.fail(f"void {ATTEMPTS} times, the machine was too busy to tell: {'; '.join(reasons)}")


def say(capsys: pytest.CaptureFixture[str], text: str) -> None:
    """Prints a figure also when the test passes."""
    with capsys.disabled():
        print(f"\n  {text}", end="", flush=True)
