# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Long use: connections, forks, -p, attach and detach by the thousand, and nothing may be left or be miscounted.

In each round programs of every kind connect at the same time; then the administrator changes things.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from system.harness import kernel
from system.harness.kernel import inside
from testbed import Namespace, Veth, program
from testbed.namespace import wait_until

ENDS = Path(__file__).with_name("ends.py")
#: Connections of the process that -p moves back and forth.
HELD = 5
#: Of a program in a round, at most.
MOST = 60
#: s for what has ended to be freed: TIME-WAIT and the kernel's own delays.
SETTLES = 70.0
#: kB of the kernel's memory by which two moments differ when nothing happens, on a machine where others work too.
NOISE = 8192
#: The least that is kept of a connection, bytes: one of the notes on a socket. A leak of it is to be seen.
NOTE = 64
#: Complaints in the kernel's log.
_COMPLAINTS = re.compile(r"WARNING:|BUG:|Oops|rcu.*stall|possible recursive|refcount_t", re.IGNORECASE)
Told = Callable[[int], None]


@dataclass(frozen=True)
class Ledger:
    """What netnice holds in the kernel at one moment, and what it has counted."""

    #: Loaded programs, by name.
    programs: dict[str, int]
    #: Bytes of the pinned maps, as the kernel accounts for them.
    maps: int
    #: Entries of the lists of processes and of cgroups.
    entries: int
    #: kB of the kernel's own memory that it cannot give back.
    slab: int
    #: Complaints in the kernel's log.
    complaints: int
    opened: int
    refused: int
    receiving: int
    adopted: int
    clamp_failed: int
    failed: int

    @classmethod
    def read(cls) -> Ledger:
        status = json.loads(_run("netnicectl", "status", "--json"))
        niceness, receiver = status["niceness"], status["receiver"]["counters"]
        counters = niceness["counters"]
        names = list(kernel.programs().values())
        return cls(
            programs={name: names.count(name) for name in sorted(set(names))},
            maps=sum(_map(pin)["bytes_memlock"] for pin in (kernel.PINS / "maps").iterdir()),
            entries=len(niceness["processes"]) + len(status["attached"]),
            slab=_slab(),
            complaints=len(_COMPLAINTS.findall(_run("dmesg"))),
            opened=counters["active"],
            refused=niceness["refused"],
            receiving=receiver["connections"],
            adopted=receiver["adopted"],
            clamp_failed=receiver["clamp_failed"],
            failed=counters["cc_failed"] + counters["mark_failed"],
        )


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
    words = (sys.executable, ENDS, "serve")
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
    words = [sys.executable, str(ENDS), *peer.split(), str(each)]
    with contextlib.ExitStack() as running:
        for process in [running.enter_context(where.spawn(*kind.first, *words)) for kind in all_kinds]:
            process.wait(timeout=120)
            assert process.returncode == 0
    for kind in all_kinds:
        expected.connections += each
        expected.opened += each * kind.sends
        expected.receiving += each * kind.receives


def _administer(unit: Path, held: int, expected: Expected) -> None:
    """Nothing is connecting now, so that all can be counted."""
    _run("netnicectl", "detach", str(unit))
    _run("netnicectl", "attach", "-n", "1", str(unit))
    for level in ("2", "off"):
        _run("netnice", "-n", level, "-p", str(held))
    expected.receiving += HELD
    expected.adopted += HELD


def least_connections() -> int:
    """So many of them make a leak of a note greater than the noise."""
    return NOISE * 1024 // NOTE


def rows(outcome: Outcome) -> list[tuple[str, str, str, bool]]:
    """What, as it should be, as it is, and whether it is."""
    expected, before, after = outcome.expected, outcome.before, outcome.after
    counted = [
        ("connections that yield with what they send", expected.opened, after.opened),
        ("connections that yield with what they receive", expected.receiving, after.receiving),
        ("of these, in use already", expected.adopted, after.adopted),
        ("that stayed on another congestion control, or unmarked", 0, after.failed),
        ("windows that the kernel refused", 0, after.clamp_failed),
        ("processes refused for want of room", 0, after.refused),
        ("processes and cgroups still in the lists", 0, after.entries),
        ("complaints of the kernel since", before.complaints, after.complaints),
    ]
    found = [(what, f"{wanted:,}", f"{is_now:,}", wanted == is_now) for what, wanted, is_now in counted]
    # Before there may be more: connections of an earlier test keep their programs until they end.
    well = all(number <= before.programs.get(name, 0) for name, number in after.programs.items())
    found.append(("programs", f"<= {sum(before.programs.values())}", str(sum(after.programs.values())), well))
    found.append(("bytes of maps", f"<= {before.maps:,}", f"{after.maps:,}", after.maps <= before.maps))
    grown = after.slab - before.slab
    found.append(("kB of the kernel's memory more than a tenth into it", f"<= {NOISE:,}", f"{grown:,}", grown <= NOISE))
    return found


def _run(name: str, *words: str) -> str:
    """What it prints."""
    return subprocess.run([program(name), *words], check=True, capture_output=True, text=True).stdout


def _map(pin: Path) -> Any:
    return json.loads(_run("bpftool", "-j", "map", "show", "pinned", str(pin)))


def _slab() -> int:
    found = re.search(r"^SUnreclaim:\s+(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    assert found, "the kernel tells"
    return int(found[1])
