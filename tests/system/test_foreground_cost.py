# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the receiver's hook costs those who do not use it: connections in the foreground, with it on every cgroup.

Where in memory a load puts the program is part of what it costs, so the median of a fixed number of loads counts.
Without `--applications` there is no such hook: test_receiver_cost.py sees that nothing is called then.
"""

from __future__ import annotations

import statistics

import pytest

from system.harness import empty, runtime
from system.harness.commands import Run
from system.harness.days import say
from testbed import Namespace, Nginx, Veth

_MOST = 20.0  # ns
_LOADS, _RUNS = 5, 3


def test_a_foreground_segment_costs_at_most_20_ns(
    down: dict[int, str], netnicectl: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    arrivals: list[float] = []
    empties: list[float] = []
    with empty.on_all_arrivals(), runtime.measured(), Namespace("a") as a, Namespace("b") as b, Veth(a, b):
        for namespace in (a, b):  # a packet an arrival, as a network card without GRO has it
            namespace.run("ethtool", "-K", "veth0", "gro", "off", "tso", "off", "gso", "off")
        with Nginx(a, {"data": 40 << 20}) as web:
            for _ in range(_LOADS):
                netnicectl("down")
                netnicectl("up", "--applications")
                for _ in range(_RUNS):
                    before = runtime.newest("arrival"), runtime.newest(empty.EMPTY)
                    b.run("curl", "-so", "/dev/null", web.url("data"))
                    ours, nothing = runtime.newest("arrival") - before[0], runtime.newest(empty.EMPTY) - before[1]
                    assert ours.calls > 10_000
                    arrivals.append(ours.each)
                    empties.append(nothing.each)
    more = statistics.median(ours - nothing for ours, nothing in zip(arrivals, empties, strict=True))
    say(capsys, f"a foreground segment: {more:.0f} ns more than the {statistics.median(empties):.0f} ns of an empty")
    say(capsys, "program")
    assert more <= _MOST
