# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""`off`, `detach` and `down` give each socket back what it had, or what its program has set since."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from system.harness import kernel
from system.harness.commands import PROGRAMS, Pair, netnice, netnicectl
from system.harness.kernel import inside
from testbed import Process, program
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("fresh")

UNIT = "given-back.service"
Way = Callable[[Process], None]
LEVELS: dict[str, Way] = {
    "the command": lambda _: None,
    "-p": lambda process: drop(netnice("-n", "1", "-p", str(process.pid))),
    "attach": lambda _: drop(netnicectl("attach", UNIT)),
}
BACK: dict[str, Way] = {
    "off": lambda process: drop(netnice("-n", "off", "-p", str(process.pid))),
    "detach": lambda _: drop(netnicectl("detach", UNIT)),
    "down": lambda _: drop(netnicectl("down")),
}
WAYS = [(to, back) for to in LEVELS for back in BACK if (back == "detach") == (to == "attach") or back == "down"]


def drop(_result: object) -> None:
    """Nothing of it is asked."""


def like(process: Process) -> list[list[str | int]]:
    """Its answer: programs/settings.py."""
    process.signal(signal.SIGUSR1)
    found: list[list[str | int]] = json.loads(process.line())
    return found


@contextmanager
def configured_sockets(pair: Pair, *words: str, protocol: str = "tcp") -> Iterator[Process]:
    """In a unit of its own."""
    port = pair.end(pair.b, "take").line().strip()
    with kernel.cgroup(UNIT) as unit:
        argv = [sys.executable, "-m", "system.programs.settings", pair.b4, port, protocol]
        env = {"PYTHONPATH": str(PROGRAMS.parents[1])}
        with pair.a.spawn(*inside(unit), *words, *argv, stdout=subprocess.PIPE, env=env) as process:
            assert process.line() == "ready\n"
            yield process


#: What the program chose, but for the priority of what a server accepts: it begins with 0.
CHOSE = ["reno", 0x28, 3, 0, 20_000]
ACCEPTED = ["reno", 0x28, 0, 0, 20_000]
PLAIN = ["cubic", 0, 0, 0, 0]
SINCE = ["reno", 0x48, 4, 0, 20_000]
NICE = [4, 257]


@pytest.mark.parametrize(("to", "back"), WAYS)
@pytest.mark.parametrize("since", [False, True])
def test_all_of_it(pair: Pair, to: str, back: str, since: bool) -> None:
    started = to == "the command"
    with configured_sockets(pair, *([program("netnice")] if started else [])) as process:
        if not started:
            assert like(process) == [CHOSE, PLAIN, CHOSE, ACCEPTED]
        LEVELS[to](process)
        nice = like(process)
        if started:
            del nice[2]  # a server of a nice process stays as it is: what it accepts is put on a level
        assert all(str(one[0]).startswith("netnice") and one[1:3] == NICE for one in nice), nice
        if since:
            process.signal(signal.SIGUSR2)
            assert process.line() == "set\n"
            wait_until(lambda: like(process)[0][1] == 4, "the mark to come back")
        BACK[back](process)
        assert like(process) == [SINCE if since else CHOSE, PLAIN, CHOSE, ACCEPTED]


@pytest.mark.parametrize("back", ["off", "down"])
def test_multipath(pair: Pair, back: str) -> None:
    with configured_sockets(pair, protocol="mptcp") as process:
        had = like(process)
        LEVELS["-p"](process)
        assert {str(one[0]) for one in like(process)} == {"netnice1"}
        BACK[back](process)
        assert [one[0] for one in like(process)] == [one[0] for one in had]


def test_what_netnice_never_touched_stays(pair: Pair) -> None:
    """A program may mark its own packets as background; other sockets of the machine keep that."""
    with configured_sockets(pair) as process:
        had = like(process)
        netnicectl("down")
        assert like(process) == had
