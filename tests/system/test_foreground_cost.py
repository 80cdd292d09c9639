# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What netnice costs connections in the foreground: a few calls when one begins, and none for any of its packets."""

from __future__ import annotations

import statistics

from system.harness import empty, runtime
from system.harness.commands import Run
from testbed import Namespace, Nginx, Veth

_SIZE = 40 << 20
_RUNS = 3
#: That meet connections of any cgroup. `adopt` answers a call of applications.
_PROGRAMS = ("netnice_socket", "netnice_opened", "adopted", "adopt")


def test_a_foreground_segment_costs_nothing(down: dict[int, str], netnicectl: Run) -> None:
    earlier = runtime.programs().keys()
    netnicectl("up", "--applications")

    def calls(name: str) -> int:
        return runtime.spent(name, earlier).calls

    with empty.on_all_arrivals(), runtime.measured(), Namespace("a") as a, Namespace("b") as b, Veth(a, b):
        for namespace in (a, b):  # a packet an arrival, as a network card without GRO has it
            namespace.run("ethtool", "-K", "veth0", "gro", "off", "tso", "off", "gso", "off")
        with Nginx(a, {"much": _SIZE, "little": 1}) as web:

            def of(document: str) -> tuple[dict[str, int], int]:
                """Calls of each program, and arrivals of packets, that fetching it took."""
                before, packets = {name: calls(name) for name in _PROGRAMS}, runtime.newest(empty.EMPTY).calls
                b.run("curl", "-so", "/dev/null", web.url(document))
                return (
                    {name: calls(name) - before[name] for name in _PROGRAMS},
                    runtime.newest(empty.EMPTY).calls - packets,
                )

            of("little")  # the server's first
            little, much = ([of(document) for _ in range(_RUNS)] for document in ("little", "much"))
    assert min(packets for _, packets in much) > 10_000, "its packets were not seen by anybody"
    for name in _PROGRAMS:
        few, many = (statistics.median(found[name] for found, _ in runs) for runs in (little, much))
        assert many == few, f"{name} runs for packets of the foreground"
