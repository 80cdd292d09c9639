# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a packet costs where the receiver yields: run time of its program by the kernel's own eBPF statistics.

The machine has fast and slow minutes, and what the statistics themselves cost is in all of it. Both are in an empty
program that runs beside ours in the same seconds, so it is the unit. Where in memory a load puts the programs makes up
to a third of what they cost: the number of loads and of downloads is fixed, and the median of all counts.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from typing import NamedTuple

import pytest

from known_miss import KnownMiss
from system.harness import empty, runtime
from system.harness.commands import Run
from system.harness.cost import EMPTY_NS
from system.harness.days import say
from testbed import Namespace, Nginx, Veth

_SIZE = 32 << 20
_LOADS, _RUNS = 8, 3
#: ns a segment: the bar.
_SEGMENT_NS = 87.0


class Cost(NamedTuple):
    """Of one download."""

    acks: runtime.Spent
    nothing: runtime.Spent
    segments: int

    @property
    def segment(self) -> float:
        """Nanoseconds a segment."""
        return self.acks.nanoseconds / self.segments


def test_a_received_packet_costs_little(
    down: dict[int, str], netnicectl: Run, capsys: pytest.CaptureFixture[str], known_miss: KnownMiss
) -> None:
    earlier = runtime.programs().keys()
    netnicectl("up")

    def spent() -> Cost:
        counters = json.loads(netnicectl("status", "--json").stdout)["receiver"]["counters"]
        return Cost(
            runtime.spent("adopted", earlier),
            runtime.newest(empty.EMPTY),
            counters["segments"],
        )

    def cost(work: Callable[[], object]) -> Cost:
        before = spent()
        work()
        after = spent()
        return Cost(
            after.acks - before.acks,
            after.nothing - before.nothing,
            after.segments - before.segments,
        )

    joined: list[Cost] = []
    single: list[Cost] = []
    with (
        Namespace("www") as www,
        Namespace("home") as home,
        Veth(www, home),
        Nginx(www, {"file": _SIZE}) as server,
        empty.on_all_arrivals(),
        runtime.measured(),
    ):
        fetch = ("curl", "-sSo", "/dev/null", server.url("file"))
        for load in range(_LOADS):
            if load:
                netnicectl("down")
                netnicectl("up")
            for costs, segments in ((joined, "65535"), (single, "1")):
                www.run("ip", "link", "set", "veth0", "gso_max_segs", segments)
                costs += [cost(lambda: home.run("netnice", *fetch)) for _ in range(_RUNS)]

    for what, costs in (("each segment a buffer", single), (f"{_joined(joined):.0f} segments a buffer", joined)):
        say(
            capsys,
            f"{what}: {_median(costs):.0f} ns a segment where an empty program takes {EMPTY_NS:.0f} "
            f"(here {statistics.median(one.nothing.each for one in costs):.0f})",
        )
    assert min(one.segments for one in single) > 10_000
    assert _joined(single) < 1.01 and _joined(joined) > 4
    assert _median(joined) <= _median(single) / 2
    assert _median(single) <= _SEGMENT_NS


def _median(costs: list[Cost]) -> float:
    """Nanoseconds a segment, on a machine where an empty program takes EMPTY_NS."""
    return EMPTY_NS * statistics.median(one.segment / one.nothing.each for one in costs)


def _joined(costs: list[Cost]) -> float:
    return max(one.segments / one.nothing.calls for one in costs)
