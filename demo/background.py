# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The demo's conditions, and what the background is made of: rsync uploads and curl downloads.

The conditions were fixed before the algorithm was tuned; README.md beside this says why each.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from demo.scene import Kind, Scenario
from testbed import (
    ByteCounter,
    Namespace,
    Nginx,
    Process,
    RsyncDaemon,
    TestbedError,
    program,
    random_file,
    scratch,
)

ENDLESS = 1 << 34
"""Bytes: of no link that the demo has could a download of so much come to its end."""


@dataclass(frozen=True)
class Conditions:
    """All that is the same in every scenario."""

    rate_bps: int = 10_000_000
    rtt_ms: int = 40
    queue: str = "1bdp"
    clients: int = 12
    load_bps: int = 5_000_000
    alpha: float = 1.2
    smallest: int = 4096
    largest: int = 1 << 20
    uploads: int = 16
    downloads: int = 0
    files_per_upload: int = 4
    warmup_s: float = 6.0
    seconds: float = 32.0
    grace_s: float = 2.5
    seed: int = 3
    sample_s: float = 0.25

    @property
    def transfers(self) -> str:
        """What the background is: downloads if there are any, else uploads."""
        return "downloads" if self.downloads else "uploads"

    @property
    def transfers_at_a_time(self) -> int:
        """How many of them."""
        return self.downloads or self.uploads

    @property
    def file_bytes(self) -> int:
        """Size of each uploaded file: one upload alone on the link could not finish them."""
        lasts = self.warmup_s + self.seconds + self.grace_s + 10
        return int(self.rate_bps / 8 * lasts / self.files_per_upload)


@dataclass(frozen=True)
class Background:
    """Transfers that outlast the run.

    ``received`` counts their bytes where they arrive; ``port`` tells their sockets in the sender's namespace from
    others, and those should run on ``algorithm``.
    """

    transfers: list[Process]
    received: ByteCounter
    port: dict[str, int]
    algorithm: set[str]

    def check(self) -> None:
        """A transfer that ended would make the background smaller than it says."""
        for transfer in self.transfers:
            if not transfer.running():
                _, err = transfer.end()
                raise TestbedError(f"a transfer ended with {transfer.returncode} before its time: {err.strip()}")


Transferring = Callable[[Scenario, Conditions, Namespace, Namespace], AbstractContextManager[Background]]
"""The background of a scenario between a sender and a receiver, while the context lasts."""


def make_source(conditions: Conditions) -> Path:
    """A folder of real, incompressible files for all uploads to send."""
    folder = scratch("source")
    for number in range(conditions.files_per_upload):
        random_file(folder / f"file{number}", conditions.file_bytes)
    return folder


@contextlib.contextmanager
def uploading(
    source: Path, scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """Uploads by rsync while the context lasts, each to a folder of its own."""
    before = under(scenario.kind)
    env = marking() if scenario.kind == "marked" else {}
    count = 0 if scenario.kind == "none" else conditions.uploads
    with (
        RsyncDaemon(receiver) as store,
        ByteCounter(receiver, local_port=store.port, interval=conditions.sample_s) as received,
        ending(
            sender.spawn(
                *before, "rsync", "--recursive", "--whole-file", f"{source}/", store.url(f"upload{number}"), env=env
            )
            for number in range(count)
        ) as transfers,
    ):
        yield Background(transfers, received, {"peer_port": store.port}, {"netnice"} if before else {"cubic"})


@contextlib.contextmanager
def downloading(
    scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """Downloads by curl while the context lasts, from a server that knows nothing of netnice and sends by CUBIC."""
    before = under(scenario.kind)
    server = ["env", *(f"{name}={value}" for name, value in marking().items())] if scenario.kind == "marked" else []
    count = 0 if scenario.kind == "none" else conditions.downloads
    with (
        yielding(scenario),
        Nginx(sender, {"long": ENDLESS}, under=server) as web,
        ByteCounter(receiver, peer_port=web.port, interval=conditions.sample_s) as received,
        ending(
            receiver.spawn(*before, "curl", "--silent", "--output", "/dev/null", web.url("long")) for _ in range(count)
        ) as transfers,
    ):
        yield Background(transfers, received, {"local_port": web.port}, {"cubic"})


def under(kind: Kind) -> list[str]:
    """The words that a program of such a background is run with."""
    return [program("netnice"), "--strict"] if kind == "netnice" else []


@contextlib.contextmanager
def yielding(scenario: Scenario) -> Iterator[None]:
    """Of what comes in by netnice, the receiver must have seen something while the context lasted."""
    earlier = _segments() if scenario.kind == "netnice" else -1
    yield
    if scenario.kind == "netnice" and _segments() == earlier:
        raise TestbedError(f"scenario '{scenario.key}' is void: the receiver saw none of what was fetched")


def _segments() -> int:
    """Segments that the receiver has seen of connections that yield."""
    argv = [program("netnicectl"), "status", "--json"]
    status = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
    return int(status["receiver"]["counters"]["segments"])


@contextlib.contextmanager
def ending(transfers: Iterable[Process]) -> Iterator[list[Process]]:
    """Started one after the other; all ended at once, as each takes half a second to tidy up."""
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(transfer) for transfer in transfers]
        try:
            yield started
        finally:
            for transfer in started:
                transfer.signal(signal.SIGTERM)


def marking() -> dict[str, str]:
    """The environment in which a program's packets are marked DSCP LE: mark-le.c, preloaded."""
    library = scratch("marker") / "mark-le.so"
    source = Path(__file__).with_name("mark-le.c")
    argv = [program("cc"), "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    done = subprocess.run([*argv, "-o", str(library), str(source), "-ldl"], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise TestbedError(f"cc could not compile {source.name}: {done.stderr}")
    return {"LD_PRELOAD": str(library)}
