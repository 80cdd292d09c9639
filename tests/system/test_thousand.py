# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A thousand live connections, in the foreground and at two levels, while netnice is replaced, its policy changed, and
while it is taken down and brought up again: none is lost, and each stays on what it runs on.
"""

from __future__ import annotations

import collections
import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.pins import rewrite_state
from testbed import Process, program, scratch, sockets

#: Of each kind; both ends of a connection are on what their process has them be.
NICE = {"cubic": (334, []), "netnice": (333, ["netnice"]), "netnice2": (333, ["netnice", "-n", "2"])}


@contextlib.contextmanager
def holders(pair: Pair) -> Iterator[dict[str, Process]]:
    with contextlib.ExitStack() as all_of_them:
        held = {}
        for name, (many, first) in NICE.items():
            words = [program(first[0]), *first[1:]] if first else []
            argv = [*words, sys.executable, str(PROGRAMS / "hold_many.py"), str(many)]
            held[name] = all_of_them.enter_context(pair.a.spawn(*argv, stdout=subprocess.PIPE))
            held[name].line()
        yield held


def runs_on(pair: Pair) -> dict[str, int]:
    """How many ends of connections are on each congestion control."""
    return dict(collections.Counter(s.congestion_control for s in sockets(pair.a) if s.state == "ESTAB"))


def carry(held: dict[str, Process]) -> int:
    """How many connections carried a byte."""
    for process in held.values():
        process.signal(signal.SIGUSR1)
    return sum(int(process.line()) for process in held.values())


@pytest.mark.usefixtures("up")
def test_none_is_lost(netnicectl: Run, pair: Pair) -> None:
    policy = scratch("thousand") / "policy.toml"
    policy.write_text('[[rule]]\nunit = "nobody-has-this-name.service"\n')

    def replace() -> None:
        rewrite_state(build_id="0" * 64, version="0.0.1")
        assert "up again" in netnicectl("up").stdout

    expected = {name: 2 * many for name, (many, _) in NICE.items()}
    with holders(pair) as held:
        assert (runs_on(pair), carry(held)) == (expected, 1000)
        for what in (
            replace,
            lambda: netnicectl("policy", "apply", str(policy)),
            lambda: netnicectl("down"),
            lambda: netnicectl("up"),
        ):
            what()
            assert (runs_on(pair), carry(held)) == (expected, 1000)
