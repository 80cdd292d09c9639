# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Connections live on, whatever happens to netnice: kill -9 anywhere in a command, a thousand while it is replaced, and
make soak in short.
"""

from __future__ import annotations

import collections
import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from soak import rows, soak
from system.harness import kernel
from system.harness.commands import Pair, netnicectl, runs_on, status
from system.harness.kernel import inside, rewrite_state
from testbed import Process, program, scratch

pytestmark = pytest.mark.verify("each takes ten seconds or more")
#: Of each kind of a thousand; both ends of a connection are on what their process has them be.
NICE = {"cubic": (334, []), "netnice": (333, ["netnice"]), "netnice2": (333, ["netnice", "-n", "2"])}
#: Of the process that is moved about, and how often a command is ended.
HELD, TIMES = 100, 25


@contextlib.contextmanager
def holder(pair: Pair, unit: Path) -> Iterator[Process]:
    with pair.end(pair.a, "many", str(HELD), first=inside(unit)) as held:
        held.line()
        yield held


def seconds(words: list[str]) -> float:
    """How long it takes when nothing ends it."""
    begun = time.monotonic()
    subprocess.run(words, check=True, capture_output=True)
    return time.monotonic() - begun


def ended(words: list[str], after: float) -> None:
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        time.sleep(after)
        command.kill()


@pytest.mark.parametrize("name", ["attach", "policy", "-p", "quic"])
def test_ended_anywhere(fresh: dict[int, str], pair: Pair, name: str) -> None:
    """The same command then does it all. test_cli_lifecycle.py kills `up` and `down` at each step. These commands have
    no steps, so they are killed at moments spread over the time that they take.
    """
    policy = scratch("policy") / "policy.toml"
    policy.write_text('[[rule]]\nunit = "job.service"\nlevel = 1\n')
    empty = policy.with_name("empty.toml")
    empty.write_text("")
    with kernel.cgroup("job.service") as unit, holder(pair, unit) as held:
        tool, nice, pid = program("netnicectl"), program("netnice"), str(held.pid)
        there, back = {
            "attach": ([tool, "attach", "-n", "1", str(unit)], [tool, "detach", str(unit)]),
            "policy": ([tool, "policy", "apply", str(policy)], [tool, "policy", "apply", str(empty)]),
            "-p": ([nice, "-n", "1", "-p", pid], [nice, "-n", "off", "-p", pid]),
            "quic": ([tool, "attach", "--quic=tcp", "-n", "1", str(unit)], [tool, "detach", str(unit)]),
        }[name]
        takes = max(seconds(there), seconds(back))
        for turn in range(TIMES):
            for words in (there, back):
                ended(words, takes * turn / TIMES)
                assert held.running()
                if turn % 6 == 5:
                    netnicectl("up")
                    subprocess.run(words, check=True, capture_output=True)
                    assert set(runs_on(pair.a)) == {"netnice1" if words is there else "cubic"}
        subprocess.run(there, check=True, capture_output=True)
        assert set(runs_on(pair.a)) == {"netnice1"}
        subprocess.run(back, check=True, capture_output=True)
        assert set(runs_on(pair.a)) == {"cubic"}
        held.signal(signal.SIGUSR1)
        assert int(held.line()) == HELD
    assert status()["attached"] == []
    netnicectl("down")
    kernel.assert_nothing_remains(fresh)


@contextlib.contextmanager
def holders(pair: Pair) -> Iterator[dict[str, Process]]:
    with contextlib.ExitStack() as all_of_them:
        held = {}
        for name, (many, first) in NICE.items():
            held[name] = all_of_them.enter_context(pair.end(pair.a, "many", str(many), first=first))
            held[name].line()
        yield held


def ends_on(pair: Pair) -> dict[str, int]:
    """How many ends of connections are on each congestion control."""
    return dict(collections.Counter(runs_on(pair.a)))


def carry(held: dict[str, Process]) -> int:
    """How many connections carried a byte."""
    for process in held.values():
        process.signal(signal.SIGUSR1)
    return sum(int(process.line()) for process in held.values())


@pytest.mark.usefixtures("fresh")
def test_none_of_a_thousand_is_lost(pair: Pair) -> None:
    """In the foreground and at two levels, while netnice is replaced and its policy changed: each stays on what it runs
    on. When it is taken down they return to the foreground, and stay there when it is brought up again.
    """
    policy = scratch("thousand") / "policy.toml"
    policy.write_text('[[rule]]\nunit = "nobody-has-this-name.service"\n')

    def replace() -> None:
        rewrite_state(build_id="0" * 64, version="0.0.1")
        assert "up again" in netnicectl("up").stdout

    expected = {name: 2 * many for name, (many, _) in NICE.items()}
    with holders(pair) as held:
        assert (ends_on(pair), carry(held)) == (expected, 1000)
        foreground = {"cubic": sum(expected.values())}
        for what, then in (
            (replace, expected),
            (lambda: netnicectl("policy", "apply", str(policy)), expected),
            (lambda: netnicectl("down"), foreground),
            (lambda: netnicectl("up"), foreground),
        ):
            what()
            assert (ends_on(pair), carry(held)) == (then, 1000)


@pytest.mark.usefixtures("fresh")
def test_all_adds_up() -> None:
    """Too short for a leak of a few bytes to show, long enough for all that is counted to add up."""
    found = rows(soak(1500, 15, lambda _: None, settles=3))
    assert [row for row in found if not row[3]] == []
