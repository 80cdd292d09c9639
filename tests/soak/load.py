# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Rounds of use: in each, programs of every kind connect at the same time while the administrator changes things."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from soak.ledger import Ledger
from system.harness import kernel
from system.harness.kernel import inside
from testbed import Namespace, Veth, program
from testbed.namespace import wait_until

HERE = Path(__file__).parent
#: Connections of the process that -p moves back and forth.
HELD = 5
#: Of a program in a round, at most.
MOST = 60
#: s for what has ended to be freed: TIME-WAIT and the kernel's own delays.
SETTLES = 70.0
Told = Callable[[int], None]


@dataclass(frozen=True)
class Kind:
    """A way to be in the background, or not; ``first`` are the words before the program's."""

    name: str
    first: tuple[str, ...]
    sends: bool = True
    receives: bool = True


@dataclass
class Expected:
    """What must have been counted."""

    connections: int = 0
    opened: int = 0
    receiving: int = 0
    adopted: int = 0


@dataclass
class Outcome:
    """Of it all; ``before`` is a tenth into it, when what is kept for later use has been made."""

    expected: Expected
    before: Ledger
    after: Ledger
    wrong: list[str] = field(default_factory=list)


def kinds(attached: Path) -> list[Kind]:
    """All there are."""
    netnice = program("netnice")
    return [
        Kind("foreground", (), sends=False, receives=False),
        Kind("level 0", (netnice,)),
        Kind("level 2", (netnice, "-n", "2")),
        Kind("send only", (netnice, "--send-only"), receives=False),
        Kind("receive only", (netnice, "-n", "1", "--receive-only"), sends=False),
        Kind("attached", tuple(inside(attached))),
    ]


@contextlib.contextmanager
def street() -> Iterator[tuple[Namespace, str]]:
    """A place to connect from, and the address and port to connect to."""
    words = (sys.executable, HERE / "server.py")
    with (
        Namespace("a") as a,
        Namespace("b") as b,
        Veth(a, b),
        b.spawn(*words, stdout=subprocess.PIPE) as server,
    ):
        yield a, f"{b.address} {server.line().strip()}"


def soak(connections: int, seconds: float, told: Told, settles: float = SETTLES) -> Outcome:
    """netnice is up. ``told`` hears how many there were. ``settles``: s until what the kernel keeps is read."""
    expected, begun, before = Expected(), time.monotonic(), None
    with street() as (a, peer), kernel.cgroup("job.service") as unit, holder(a, peer) as held:
        _run("netnicectl", "attach", "-n", "1", str(unit))
        all_kinds = kinds(unit)
        while expected.connections < connections:
            passed = time.monotonic() - begun
            due = connections if passed >= seconds else int(connections * passed / seconds)
            share = -(-(due - expected.connections) // len(all_kinds))
            if share > 0:
                _round(a, peer, all_kinds, min(share, MOST), expected)
                _administer(unit, held, expected)
                told(expected.connections)
            time.sleep(0.2)
            if before is None and expected.connections >= connections / 10:
                before = _settled(settles)
        _run("netnicectl", "detach", str(unit))
        assert before is not None
        _run("netnice", "-n", "off", "-p", str(held))
    wait_until(lambda: Ledger.read().entries == 0, "every process to be forgotten")
    return Outcome(expected, before, _settled(settles))


def _settled(seconds: float) -> Ledger:
    """The least of the time that it takes the kernel to free what has ended; the counters do not change."""
    deadline, least = time.monotonic() + seconds, Ledger.read()
    while time.monotonic() < deadline:
        time.sleep(min(5, seconds))
        now = Ledger.read()
        if now.slab < least.slab:
            least = now
    return least


@contextlib.contextmanager
def holder(where: Namespace, peer: str) -> Iterator[int]:
    """A process with connections that it keeps; gives its number."""
    script = f"""if True:
        import signal, socket
        address, port = {peer!r}.split()
        kept = [socket.create_connection((address, int(port))) for _ in range({HELD})]
        print(flush=True)
        signal.pause()
    """
    with where.spawn(sys.executable, "-c", script, stdout=subprocess.PIPE) as process:
        process.line()
        yield process.pid


def _round(where: Namespace, peer: str, all_kinds: list[Kind], each: int, expected: Expected) -> None:
    words = [sys.executable, str(HERE / "worker.py"), *peer.split(), str(each)]
    with contextlib.ExitStack() as running:
        for process in [running.enter_context(where.spawn(*kind.first, *words)) for kind in all_kinds]:
            process.wait(timeout=120)
            assert process.returncode == 0
    for kind in all_kinds:
        expected.connections += each
        expected.opened += each * kind.sends
        expected.receiving += each * kind.receives


def _administer(unit: Path, held: int, expected: Expected) -> None:
    """Nobody is connecting now, so that all can be counted."""
    _run("netnicectl", "detach", str(unit))
    _run("netnicectl", "attach", "-n", "1", str(unit))
    for level in ("2", "off"):
        _run("netnice", "-n", level, "-p", str(held))
    expected.receiving += HELD
    expected.adopted += HELD


def _run(name: str, *words: str) -> None:
    subprocess.run([program(name), *words], check=True, capture_output=True, text=True)
