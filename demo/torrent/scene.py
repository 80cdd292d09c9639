# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One run of the torrent: the access link, the swarm, and who opens pages beside it."""

from __future__ import annotations

import contextlib
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from demo.conditions import Scenario
from demo.torrent.conditions import Conditions, Load
from demo.torrent.swarm import swarm
from testbed import Namespace, Nginx, Path, TestbedError, Transmission, sockets

Report = Callable[[float, str], None]

_TOP = File(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Result:
    """What one run gave. Seconds are since the measured window began."""

    load: str
    kind: str
    queue_t: list[float]
    queue_ms: list[float]
    torrent_bps: float
    page_ms: list[float]
    pages_failed: int
    path_trusted: bool
    path_reasons: list[str]

    @property
    def queue_median_ms(self) -> float:
        """The queueing delay that a packet met half of the time."""
        return statistics.median(self.queue_ms)

    @property
    def queue_p95_ms(self) -> float:
        """The queueing delay exceeded one twentieth of the time."""
        ranked = sorted(self.queue_ms)
        return ranked[math.ceil(0.95 * len(ranked)) - 1]

    @property
    def page_mean_ms(self) -> float:
        """Of the pages that came."""
        return statistics.fmean(self.page_ms) if self.page_ms else math.inf


def run(scenario: Scenario, load: Load, data: File, c: Conditions, report: Report) -> Result:
    """Runs it from fresh namespaces to their removal; a scenario of the kind 'none' has pages alone."""
    pages = {f"object{number}": size for number, size in enumerate(c.page)}
    moved: list[int] = []
    warm = 0.0 if scenario.kind == "none" else c.warmup_s / (c.warmup_s + c.seconds)
    with (
        Namespace("home") as home,
        Namespace("net") as net,
        Path(
            home,
            net,
            rate=(f"{load.up_bps}bit", f"{load.down_bps}bit"),
            rtt=f"{load.rtt_ms}ms",
            queue=(f"{load.queue_bytes(load.up_bps)}B", f"{load.queue_bytes(load.down_bps)}B"),
            priority=scenario.priority,
            interval=f"{c.sample_ms}ms",
        ) as path,
        Nginx(net, pages) as web,
        _client(scenario, load, data, c, home, net) as client,
    ):
        if client:
            _warm_up(client, load, c, lambda share: report(share * warm, "warming up"))
        begin = time.monotonic()
        words = ["--every", str(c.page_every_s), "--seed", str(c.seed), "--seconds", str(c.seconds)]
        argv = [sys.executable, "-m", "demo.household.pages", *map(web.url, pages), *words]
        with home.spawn(*argv, cwd=_TOP, stdout=subprocess.PIPE) as browsing:
            if client:
                moved.append(client.now(load.counted))
                _check(scenario, home)
            _wait(begin, c.seconds, lambda share: report(warm + share * (1 - warm), "measuring"))
            if client:
                moved.append(client.now(load.counted))
            took = time.monotonic() - begin
            browsed = _said(browsing.wait(60), browsing.returncode)
    queue = delays(path.trace, load.direction, load.rate_bps, begin, c.seconds)
    return Result(
        load=load.key,
        kind=scenario.key,
        queue_t=[t for t, _ in queue],
        queue_ms=[ms for _, ms in queue],
        torrent_bps=(moved[1] - moved[0]) * 8 / took if moved else 0.0,
        page_ms=browsed["ms"],
        pages_failed=browsed["failed"],
        path_trusted=path.trusted,
        path_reasons=list(path.summary["reasons"]),
    )


def delays(
    trace: Sequence[dict[str, Any]], direction: str, rate_bps: int, begin: float, seconds: float
) -> list[tuple[float, float]]:
    """When (s since ``begin``) and how long (ms) the queue of a path was, by its trace."""
    head, *lines = trace
    offset = head["monotonic_time"] - begin
    queue = [(line["t"] + offset, line[direction]["queue_bytes"] * 8e3 / rate_bps) for line in lines]
    return [(round(t, 3), round(ms, 3)) for t, ms in queue if 0 <= t <= seconds]


@contextlib.contextmanager
def _client(
    scenario: Scenario, load: Load, data: File, c: Conditions, home: Namespace, net: Namespace
) -> Iterator[Transmission | None]:
    if scenario.kind == "none":
        yield None
        return
    with swarm(scenario, load, data, c, home, net) as client:
        yield client


def _warm_up(client: Transmission, load: Load, c: Conditions, report: Callable[[float], None]) -> None:
    _wait(time.monotonic(), c.warmup_s, report)
    if client.now(load.counted) == 0:
        raise TestbedError(f"transmission {load.title}, but moved nothing in {c.warmup_s:g} s")


def _wait(begin: float, seconds: float, report: Callable[[float], None]) -> None:
    while (left := begin + seconds - time.monotonic()) > 0:
        report(1 - left / seconds)
        time.sleep(min(left, 1.0))


def _check(scenario: Scenario, home: Namespace) -> None:
    """A run whose data does not go as its title says tells nothing."""
    ends = [*sockets(home, local_port=Transmission.PEERS), *sockets(home, peer_port=Transmission.PEERS)]
    seen = {one.congestion_control for one in ends if one.state == "ESTAB"}
    expected = {"utp": set(), "netnice": {"netnice"}}.get(scenario.key, {"cubic"})
    if seen != expected:
        raise TestbedError(
            f"scenario '{scenario.key}' is void: its peers should be reached by {sorted(expected) or 'uTP'}, "
            f"but the kernel's tables show {sorted(seen) or 'no connection of TCP'}"
        )


def _said(outcome: tuple[str, str], status: int | None) -> dict[str, Any]:
    out, err = outcome
    if status != 0:
        raise TestbedError(f"who opens pages failed: {err.strip()}")
    return dict(json.loads(out))
