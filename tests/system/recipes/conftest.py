# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Two machines at the ends of a slow cable, rules that hold before anything starts on them, and what they then move.

The rules are those of docs/use/policy.md: what a reader copies is what is tested.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import Pair, call, receiver
from system.recipes.machine import Machine
from testbed import Namespace, ownership, random_file, sockets

_DOCUMENT = Path(__file__).parents[3] / "docs" / "use" / "policy.md"
#: What a rule begins with; other words in code belong to the rule before them.
_NAMES = ("unit", "slice", "container", "label", "cgroup", "command")

#: Both ways: what is moved takes long enough to be looked at.
LINK = "root tbf rate 20mbit burst 20kb limit 200kb"
#: Bytes that each job moves.
SIZE = 3 << 20
#: What there is to send, in every machine.
DATA = "/srv/data"
#: Bytes below which a connection is one of control.
_MOVED = 300_000
#: Of what was fetched, but for the first window and what came before the first ACK.
_SEGMENTS = SIZE // 1448 * 0.9

Rules = Callable[..., None]
Boot = Callable[..., Machine]
Yields = Callable[..., AbstractContextManager[None]]


def recipes() -> dict[str, list[str]]:
    """Of each kind of work its rules, as text of a policy."""
    rows = (line.split("|") for line in _DOCUMENT.read_text().splitlines() if line.startswith("| "))
    return {row[1].strip(): found for row in rows if (found := _rules(row[2]))}


def _rules(cell: str) -> list[str]:
    rules: list[str] = []
    for words in re.findall(r"`([^`]+ = [^`]+)`", cell):
        if words.startswith(_NAMES):
            rules.append("[[rule]]\n")
        rules[-1] += f"{words}\n"
    return rules


@dataclass
class Traffic:
    """Of connections that moved data."""

    #: The congestion controls that they ran on.
    controls: set[str] = field(default_factory=set)
    #: How many segments yielding connections received.
    segments: int = 0


@contextlib.contextmanager
def observed(namespace: Namespace) -> Iterator[Traffic]:
    """Looks at a namespace while the context lasts; complete afterwards."""
    traffic, ended = Traffic(), threading.Event()

    def look() -> None:
        while not ended.wait(0.02):
            traffic.controls |= {
                one.congestion_control
                for one in sockets(namespace)
                if max(one.bytes_received, one.bytes_acked) > _MOVED
            }

    before, looking = receiver()["segments"], threading.Thread(target=look)
    looking.start()
    try:
        yield traffic
    finally:
        ended.set()
        looking.join()
    traffic.segments = receiver()["segments"] - before


@pytest.fixture
def rules(up: None) -> Rules:
    """Puts the rules of one row of the document into effect: all, or those with a certain word."""
    file = ownership.scratch("policy") / "policy.toml"

    def apply(work: str, word: str = "") -> None:
        file.write_text("".join(rule for rule in recipes()[work] if word in rule))
        call("netnicectl", "policy", "apply", str(file))

    return apply


@pytest.fixture
def cable(pair: Pair) -> Pair:
    for end in (pair.a, pair.b):
        end.run("tc", "qdisc", "add", "dev", "veth0", *LINK.split())
    return pair


@pytest.fixture
def boot(cable: Pair) -> Iterator[Boot]:
    """Boots a machine at one end, with these files more than its Debian has (path: text)."""
    with kernel.cgroup() as top, contextlib.ExitStack() as machines:

        def one(end: Namespace, files: dict[str, str] | None = None) -> Machine:
            cgroup = top / f"{end.label}.machine"
            cgroup.mkdir()
            machine = machines.enter_context(Machine(end, cgroup, files or {}))
            random_file(machine.root / DATA[1:], SIZE)
            return machine

        yield one


@pytest.fixture
def yields(cable: Pair) -> Yields:
    """What the first end moves while the context lasts yields: as it ``sends``, as it ``fetches`` the data, or both.

    How it sends is not seen (None) where its sockets are in a namespace of their own.
    """

    @contextlib.contextmanager
    def check(*, sends: bool | None = True, fetches: bool = True) -> Iterator[None]:
        with observed(cable.a) as traffic:
            yield
        expected = {None: set(), True: {"netnice"}, False: {"cubic"}}
        assert traffic.controls == expected[sends]
        assert (traffic.segments >= _SEGMENTS) == fetches

    return check
