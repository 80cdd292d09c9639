# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the receiver's hook costs those who do not use it: connections in the foreground, with it on every cgroup.

The machine has fast and slow minutes; an empty program beside ours tells which it is (see test_receiver_cost.py).
"""

from __future__ import annotations

import pytest

from system.harness import empty, runtime
from system.harness.commands import Run
from system.harness.days import say
from testbed import Namespace, Nginx, Veth

_MOST = 20.0  # ns
#: Downloads of a load; where in memory that puts the program is part of what it costs (see test_path_cost.py).
_RUNS, _MOST_LOADS = 6, 8


def test_a_foreground_segment_costs_at_most_20_ns(
    down: dict[int, str], netnicectl: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    arrivals: list[float] = []
    empties: list[float] = []
    with empty.on_all_arrivals(), runtime.measured(), Namespace("a") as a, Namespace("b") as b, Veth(a, b):
        for namespace in (a, b):  # a packet an arrival, as a network card without GRO has it
            namespace.run("ethtool", "-K", "veth0", "gro", "off", "tso", "off", "gso", "off")
        with Nginx(a, {"data": 100 << 20}) as web:
            for load in range(_MOST_LOADS):
                if load and _more(arrivals, empties) <= _MOST:
                    break
                netnicectl("down")
                netnicectl("up", "--applications")
                for _ in range(_RUNS):
                    before = runtime.newest("arrival"), runtime.newest(empty.EMPTY)
                    b.run("curl", "-so", "/dev/null", web.url("data"))
                    ours, nothing = runtime.newest("arrival") - before[0], runtime.newest(empty.EMPTY) - before[1]
                    assert ours.calls > 10_000
                    arrivals.append(ours.each)
                    empties.append(nothing.each)
    more = _more(arrivals, empties)
    say(capsys, f"a foreground segment: {more:.0f} ns more than the {min(empties):.0f} ns of an empty program")
    assert more <= _MOST


def _more(arrivals: list[float], empties: list[float]) -> float:
    """What an arrival costs beyond an empty program, ns."""
    return min(arrivals) - min(empties)
