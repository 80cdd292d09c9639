# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kill -9 anywhere in a command that changes what is nice: connections live on, the same command then does it all.

`up` and `down` are ended at each of their steps in test_cli_lifecycle.py; these have none, so they are ended at moments
that are spread over the time that they take.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness import cgroups, kernel
from system.harness.cgroups import inside
from system.harness.commands import PROGRAMS, Pair, Run
from testbed import Process, program, scratch, sockets

#: Of the process that is moved about, and how often a command is ended.
HELD, TIMES = 100, 25


@contextlib.contextmanager
def holder(pair: Pair, unit: Path) -> Iterator[Process]:
    words = inside(unit, sys.executable, str(PROGRAMS / "hold_many.py"), str(HELD))
    with pair.a.spawn(*words, stdout=subprocess.PIPE) as held:
        held.line()
        yield held


def on(pair: Pair) -> set[str]:
    return {s.congestion_control for s in sockets(pair.a) if s.state == "ESTAB"}


def seconds(words: list[str]) -> float:
    """How long it takes when nobody ends it."""
    begun = time.monotonic()
    subprocess.run(words, check=True, capture_output=True)
    return time.monotonic() - begun


def ended(words: list[str], after: float) -> None:
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        time.sleep(after)
        command.kill()


@pytest.mark.parametrize("name", ["attach", "policy", "-p", "quic"])
def test_ended_anywhere(up: dict[int, str], netnicectl: Run, pair: Pair, name: str) -> None:
    policy = scratch("policy") / "policy.toml"
    policy.write_text('[[rule]]\nunit = "job.service"\nlevel = 1\n')
    empty = policy.with_name("empty.toml")
    empty.write_text("")
    with cgroups.made("job.service") as unit, holder(pair, unit) as held:
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
                    assert on(pair) == {"netnice1" if words is there else "cubic"}
        subprocess.run(there, check=True, capture_output=True)
        assert on(pair) == {"netnice1"}
        subprocess.run(back, check=True, capture_output=True)
        assert on(pair) == {"cubic"}
        held.signal(signal.SIGUSR1)
        assert int(held.line()) == HELD
    assert json.loads(netnicectl("status", "--json").stdout)["attached"] == []
    netnicectl("down")
    kernel.assert_nothing_remains(up)
