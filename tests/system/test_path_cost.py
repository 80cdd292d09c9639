# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What an ACK costs: run time of cong_control by the kernel's own eBPF statistics."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path as File

import pytest

from system.days import say
from testbed import Namespace, Path, netnice_up, program

_STATISTICS = File("/proc/sys/kernel/bpf_stats_enabled")
_SEND = File(__file__).parent / "programs" / "send.py"
_SINK = File(__file__).parent / "programs" / "sink.py"


def test_cong_control_costs_at_most_half_more_than_reno_in_ebpf(capsys: pytest.CaptureFixture[str]) -> None:
    with netnice_up(["nnreno"]), Namespace("a") as a, Namespace("b") as b, Path(a, b, rate="200mbit", rtt="10ms"):
        # Interleaved, so that a busy second hits both.
        costs: dict[str, list[float]] = {"nice": [], "nnreno": []}
        calls: dict[str, int] = {"nice": 0, "nnreno": 0}
        with _statistics(), b.spawn("python3", _SINK, stdout=subprocess.PIPE) as sink:
            port = sink.line().strip()
            for _ in range(6):
                for name in costs:
                    before = _spent(name)
                    a.run("python3", _SEND, b.address, port, name, "1")
                    nanoseconds, count = (now - then for now, then in zip(_spent(name), before, strict=True))
                    costs[name].append(nanoseconds / count)
                    calls[name] += count
    nice, reno = min(costs["nice"]), min(costs["nnreno"])
    say(capsys, f"cong_control: nice {nice:.0f} ns, nnreno {reno:.0f} ns a call ({calls}) = {nice / reno:.2f} ×")
    assert min(calls.values()) > 1000
    assert nice / reno <= 1.5


@contextlib.contextmanager
def _statistics() -> Iterator[None]:
    before = _STATISTICS.read_text()
    _STATISTICS.write_text("1")
    try:
        yield
    finally:
        _STATISTICS.write_text(before)


def _spent(name: str) -> tuple[int, int]:
    """Nanoseconds in, and calls of, an algorithm's cong_control."""
    shown = subprocess.run([program("bpftool"), "-j", "prog", "show"], check=True, capture_output=True, text=True)
    # The kernel keeps 15 characters of a name; programs of earlier loads may live on under the same.
    found = [one for one in json.loads(shown.stdout) if str(one.get("name", "")).startswith(f"{name}_cong_contro"[:15])]
    assert found, f"no program of {name} is loaded"
    newest = max(found, key=lambda one: int(one["id"]))
    return int(newest.get("run_time_ns", 0)), int(newest.get("run_cnt", 0))


def test_statistics_are_as_before() -> None:
    before = _STATISTICS.read_text()
    with _statistics():
        time.sleep(0)
    assert _STATISTICS.read_text() == before
