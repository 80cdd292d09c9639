# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One run: sixteen virtual clients play their visits, and what they waited for is put together."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from demo.prefetching.conditions import FOREGROUND, Arm, Conditions, Link
from demo.prefetching.world import Logs, World, world
from testbed import Namespace, Process, TestbedError, program, scratch, sockets

_LOOK_EVERY = 2.0
_GRACE = 30.0


@dataclass
class Result:
    """What the clients of one run waited, in ms from wish to last byte, and what was prefetched."""

    link: str
    arm: str
    requests: int
    mean_ms: float
    median_ms: float
    p95_ms: float
    prefetched_share: float
    """Of demanded URLs."""
    unfinished: int
    errors: int
    demanded_bps: float
    prefetched_bps: float
    wasted_bps: float
    refused: int
    congestion_controls: list[str]
    path_trusted: bool
    path_reasons: list[str]


def run(link: Link, arm: Arm, logs: Logs, c: Conditions) -> Result:
    """Runs one arm on one link, from fresh namespaces to their removal."""
    with world(link, arm, logs, c) as machines:
        clients = [_play(machines, number, link, logs, c) for number in range(c.hosts)]
        seen = _watch(machines, [process for process, _ in clients], link, c)
        reports = [json.loads(file.read_text()) for _, file in clients]
    expected = {FOREGROUND, arm.congestion_control or FOREGROUND}
    if not seen <= expected or (arm.preset == "aggressive" and seen != expected):
        raise TestbedError(
            f"'{arm.key}' is void: replies should be sent on {sorted(expected)}, the kernel shows {sorted(seen)}"
        )
    return _result(link, arm, reports, seen, machines)


def _play(machines: World, number: int, link: Link, logs: Logs, c: Conditions) -> tuple[Process, Any]:
    report = scratch("replay") / "report.json"
    options = {"clients": c.clients_per_host, "seconds": c.warmup_s + link.seconds, "warmup": c.warmup_s}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    replay = (program("netnice-replay"), "play", str(logs.played[number]), machines.url, "--json")
    with report.open("w") as file:
        return machines.hosts[number].spawn(*replay, *words, stdout=file), report


def _watch(machines: World, clients: list[Process], link: Link, c: Conditions) -> set[str]:
    """Waits for the clients' end; returns the congestion controls of the proxy's connections to them."""
    seen: set[str] = set()
    limit = time.monotonic() + c.warmup_s + link.seconds + _GRACE
    for client in clients:
        while client.running():
            seen |= _sends_on(machines.server, machines.port)
            if time.monotonic() > limit:
                raise TestbedError("the clients do not end")
            time.sleep(_LOOK_EVERY)
        if client.returncode != 0:
            _, err = client.wait()
            raise TestbedError(f"the clients failed: {err.strip()}")
    return seen


def _sends_on(server: Namespace, port: int) -> set[str]:
    found = sockets(server, local_port=port)
    # The first look may come before the proxy has chosen for a connection.
    return {s.congestion_control for s in found if s.state == "ESTAB" and s.bytes_acked} - {""}


def _result(link: Link, arm: Arm, reports: list[dict[str, Any]], seen: set[str], machines: World) -> Result:
    demanded = [one for report in reports for one in report["demanded"]]
    waited = sorted(one["waited_ms"] for one in demanded)
    if not waited:
        raise TestbedError(f"'{arm.key}' is void: nothing was demanded")
    total: float = max(report["seconds"] for report in reports)

    def rate(count: Callable[[dict[str, Any]], Any]) -> float:
        return 8 * float(sum(count(report) for report in reports)) / total

    return Result(
        link=link.key,
        arm=arm.key,
        requests=len(waited),
        mean_ms=sum(waited) / len(waited),
        median_ms=waited[(len(waited) - 1) // 2],
        p95_ms=waited[max(0, -(-95 * len(waited) // 100) - 1)],
        prefetched_share=sum(one["from"] == "prefetch" for one in demanded) / len(demanded),
        unfinished=sum(report["unfinished"] for report in reports),
        errors=sum(report["errors"] for report in reports),
        demanded_bps=rate(lambda report: report["demanded_bytes"]),
        prefetched_bps=rate(lambda report: report["prefetched"]["bytes"]),
        wasted_bps=rate(lambda report: report["prefetched"]["wasted_bytes"]),
        refused=sum(report["prefetched"]["refused"] for report in reports),
        congestion_controls=sorted(seen),
        path_trusted=machines.path.trusted,
        path_reasons=list(machines.path.summary.get("reasons", [])),
    )
