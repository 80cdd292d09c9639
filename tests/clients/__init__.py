# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Six real clients under a floor, side by side: each has a path of its own, with a CUBIC flow that never ends.

A client passes that ends well, or still transfers without a word of an error when the time is over. A client that
fails is run again by plain TCP, alone on a path of the floor's rate. If it fails there too, it does not count.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path as File

from clients.programs import git_push, podman, rclone, restic
from system.harness.fetchers import Client, apt, pip
from testbed import ByteCounter, Namespace, Nginx, Path, Process, program, scratch
from testbed.namespace import wait_until

#: bit/s
FLOOR = 256_000
#: An uplink of which the floor is a sixteenth. Six of them at once leave two cores time.
RATE, RTT = "4mbit", "40ms"
#: 1 BDP of the path, for both ways: a BDP of the floor's rate is less than a packet.
QUEUE = "20kB"
#: s without a byte at the end: it no longer goes on.
STILL = 30.0
#: s for the CUBIC flows to fill their paths before the clients begin.
FILLS = 3.0
_ENDLESS = 1 << 40
Told = Callable[[float], None]


@dataclass(frozen=True)
class Kind:
    """A client: what it does, which way its data go, and how it is made, with its server in the namespace."""

    does: str
    sends: bool
    made: Callable[[Namespace, int], AbstractContextManager[Client]]


KINDS = {
    "restic": Kind("backup over HTTP", True, restic),
    "rclone": Kind("copy by WebDAV", True, rclone),
    "git": Kind("push over ssh", True, git_push),
    "pip": Kind("download", False, pip),
    "apt": Kind("download", False, apt),
    "podman": Kind("pull", False, podman),
}


@dataclass(frozen=True)
class Way:
    """How clients are run: by which words, at which rate of their data, and beside a flow or alone."""

    words: tuple[str, ...]
    rate: str
    beside: bool


FLOORED = Way(("netnice", "--strict", "--at-least", f"{FLOOR}bit"), RATE, beside=True)
PLAIN = Way((), f"{FLOOR}bit", beside=False)


@dataclass
class Found:
    """Of a client: ``ended``, ``goes on``, ``stands still`` or ``failed``; ``pause``: s without a byte."""

    name: str
    outcome: str
    seconds: float
    moved: int
    pause: float
    errors: str
    #: Whether the machine kept the path's time.
    trusted: bool = True
    #: The same by plain TCP, if it was needed.
    plain: Found | None = None

    @property
    def rate(self) -> float:
        """Bit/s."""
        return 8 * self.moved / self.seconds

    @property
    def fails(self) -> bool:
        """By itself, whatever plain TCP does."""
        return bool(self.errors) or self.outcome not in {"ended", "goes on"}

    @property
    def well(self) -> bool:
        """Whether the floor is not to blame."""
        return not self.fails or (self.plain is not None and self.plain.fails)


@dataclass
class Running:
    """A client at work."""

    name: str
    path: Path
    process: Process
    received: ByteCounter
    errors: File
    begun: float = field(default_factory=time.monotonic)
    ended: float | None = None

    def look(self) -> bool:
        """Whether it still runs."""
        if self.ended is None and not self.process.running():
            self.ended = time.monotonic()
        return self.ended is None

    def found(self) -> Found:
        """What is known by now."""
        end, status = self.ended or time.monotonic(), self.process.returncode
        arrivals = [self.begun, *_arrivals(self.received), end]
        outcome = "ended" if status == 0 else f"failed ({status})"
        if status is None:
            outcome = "goes on" if end - arrivals[-2] < STILL else "stands still"
        pause = max(after - before for before, after in itertools.pairwise(arrivals))
        moved = self.received.totals[-1]
        return Found(self.name, outcome, end - self.begun, moved, pause, self.errors.read_text().strip())


def clients(seconds: float, told: Told, names: Collection[str] = tuple(KINDS)) -> list[Found]:
    """netnice is up. ``told`` hears how many seconds have passed, and begins anew for what is run by plain TCP."""
    found = side_by_side(names, FLOORED, seconds, told)
    failed = [one for one in found if one.fails]
    if failed:
        by_plain = side_by_side([one.name for one in failed], PLAIN, seconds, told)
        for one, plain in zip(failed, by_plain, strict=True):
            one.plain = plain
    return found


def side_by_side(names: Collection[str], way: Way, seconds: float, told: Told) -> list[Found]:
    """Until all have ended, or the time is over. Their data would fill it at the floor's rate."""
    size = int(FLOOR / 8 * seconds)
    with contextlib.ExitStack() as stack:
        starts = [stack.enter_context(street(name, way, size)) for name in names]
        time.sleep(FILLS)
        running = [stack.enter_context(start()) for start in starts]
        begun = time.monotonic()
        while (passed := time.monotonic() - begun) < seconds and sum(one.look() for one in running):
            told(passed)
            time.sleep(0.2)
        found = [one.found() for one in running]
    for one, ran in zip(found, running, strict=True):
        one.trusted = ran.path.trusted
    return found


@contextlib.contextmanager
def street(name: str, way: Way, size: int) -> Iterator[Callable[[], AbstractContextManager[Running]]]:
    """A client's two namespaces with its server and the flow, which flows; gives what starts the client."""
    kind = KINDS[name]
    rates = (way.rate, RATE) if kind.sends else (RATE, way.rate)
    with (
        Namespace("home") as home,
        Namespace("far") as far,
        Path(home, far, rate=rates, rtt=RTT, queue=QUEUE) as path,
        kind.made(far, size) as client,
        (beside(home, far) if kind.sends else beside(far, home)) if way.beside else contextlib.nullcontext(),
    ):

        @contextlib.contextmanager
        def start() -> Iterator[Running]:
            errors = scratch("errors") / name
            ports = {"local_port": client.port} if kind.sends else {"peer_port": client.port}
            words = [program(word) if word == "netnice" else word for word in way.words]
            with (
                errors.open("w") as file,
                ByteCounter(far if kind.sends else home, interval=0.5, **ports) as received,
                client.start(home, *words, stderr=file) as process,
            ):
                yield Running(name, path, process, received, errors)

        yield start


@contextlib.contextmanager
def beside(sender: Namespace, receiver: Namespace) -> Iterator[None]:
    """A CUBIC flow without end."""
    with Nginx(sender, {"big": _ENDLESS}) as web, receiver.spawn("curl", "-sSo", "/dev/null", web.url("big")) as flow:
        with ByteCounter(receiver, peer_port=web.port, interval=60) as received:
            wait_until(lambda: received.sample() > 0, "the flow", process=flow)
        yield
        assert flow.running(), f"the flow ended: {flow.wait()}"


def _arrivals(received: ByteCounter) -> list[float]:
    """When bytes had arrived since the time before."""
    totals = itertools.pairwise(received.totals)
    return [at for at, (before, after) in zip(received.times[1:], totals, strict=False) if after > before]
