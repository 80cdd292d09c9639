# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What an ACK costs the sender: run time of cong_control by the kernel's own eBPF statistics.

A machine has fast and slow minutes, and where in memory a load puts the programs makes up to a third of what they cost.
So the number of loads is fixed beforehand and the median of all counts, in units of two programs that run in the same
seconds: Reno in eBPF, and an empty program, which costs what the statistics themselves do.
"""

from __future__ import annotations

import statistics
import subprocess
import time

import pytest

from known_miss import KnownMiss
from system.harness import empty, runtime
from system.harness.commands import PROGRAMS
from system.harness.cost import EMPTY_NS
from system.harness.days import say
from testbed import Namespace, Path, netnice_up

_LOADS, _TURNS = 9, 2
_RENO = 1.5
_ACK_NS = 63.0


def test_an_ack_costs_little(capsys: pytest.CaptureFixture[str], known_miss: KnownMiss) -> None:
    found: dict[str, list[tuple[runtime.Spent, runtime.Spent]]] = {"netnice": [], "nnreno": []}
    for _ in range(_LOADS):
        with (
            empty.on_all_arrivals(),
            netnice_up(["nnreno"]),
            Namespace("a") as a,
            Namespace("b") as b,
            Path(a, b, rate="200mbit", rtt="10ms"),
            runtime.measured(),
            b.spawn("python3", PROGRAMS / "sink.py", stdout=subprocess.PIPE) as sink,
        ):
            port = sink.line().strip()
            for _ in range(_TURNS):
                # Interleaved, so that a busy second hits both.
                for name, costs in found.items():
                    before = runtime.newest(f"{name}_cong_control"), runtime.newest(empty.EMPTY)
                    a.run("python3", PROGRAMS / "send.py", b.address, port, name, "1")
                    ours, nothing = runtime.newest(f"{name}_cong_control"), runtime.newest(empty.EMPTY)
                    costs.append((ours - before[0], nothing - before[1]))
    netnice, reno = (statistics.median(one.each for one, _ in found[name]) for name in found)
    ratio = statistics.median(
        ours.each / theirs.each for (ours, _), (theirs, _) in zip(found["netnice"], found["nnreno"], strict=True)
    )
    quiet = EMPTY_NS * statistics.median(one.each / nothing.each for one, nothing in found["netnice"])
    calls = {name: sum(one.calls for one, _ in costs) for name, costs in found.items()}
    say(capsys, f"cong_control: netnice {netnice:.0f} ns, nnreno {reno:.0f} ns a call ({calls}) = {ratio:.2f} ×;")
    say(capsys, f"{quiet:.0f} ns where an empty program takes {EMPTY_NS:.0f}")
    assert min(calls.values()) > 1000
    assert ratio <= _RENO
    known_miss(
        "an ACK costs at most 63 ns where an empty program takes 25",
        measured=quiet,
        most=_ACK_NS,
        noise=0.5,
        reason="it is 41 to 95 by the kind of processor; where it was missed last, Reno in eBPF costs 61 of it",
    )


def test_statistics_are_as_before() -> None:
    before = runtime.SWITCH.read_text()
    with runtime.measured():
        time.sleep(0)
    assert runtime.SWITCH.read_text() == before
