# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Two machines at the ends of a slow cable, and rules that hold before anything starts on them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from system.harness import cgroups
from system.harness.commands import Pair, call
from system.recipes.document import recipes
from system.recipes.machine import Machine
from system.recipes.traffic import observed
from testbed import Namespace, ownership, random_file

#: Both ways: what is moved takes long enough to be looked at.
LINK = "root tbf rate 20mbit burst 20kb limit 200kb"
#: Bytes that each job moves.
SIZE = 3 << 20
#: What there is to send, in every machine.
DATA = "/srv/data"
#: Of what was fetched, but for the first window and what came before the first ACK.
_SEGMENTS = SIZE // 1448 * 0.9

Rules = Callable[..., None]
Boot = Callable[..., Machine]
Yields = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def rules(up: dict[int, str]) -> Rules:
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
    with cgroups.made() as top, contextlib.ExitStack() as machines:

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
