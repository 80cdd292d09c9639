# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A foreground to be disturbed: clients that fetch documents, the same ones in each window of the same seed."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from testbed import ByteCounter, Namespace, Nginx, scratch

LARGEST = 128 << 10


@dataclass(frozen=True)
class Window:
    """What the documents met, and what came beside them meanwhile."""

    latencies: list[float]  # ms
    unfinished: int
    goodput_bps: float
    beside_bps: float


def documents(
    home: Namespace,
    web: Nginx,
    seed: int,
    seconds: float,
    beside: ByteCounter | None = None,
    load: str = "2500kbit",
) -> Window:
    """Lets twelve clients at home want documents for so long, and waits for the last of them.

    ``web`` must have a file "documents" of LARGEST bytes; ``beside`` counts what the background brings.
    """
    report = scratch("documents") / "report.json"
    words = ["--load", load, "--seconds", str(seconds), "--seed", str(seed), "--max", str(LARGEST), "--grace", "4"]
    with home.spawn("netnice-fetch", web.url("documents"), *words, "--output", report) as clients:
        _, error = clients.wait(seconds + 10)
    assert clients.returncode == 0, error
    said = json.loads(report.read_text())
    summary, begun = said["summary"], said["started_monotonic_us"] / 1e6
    return Window(
        [document["latency_us"] / 1e3 for document in said["documents"] if document["latency_us"] is not None],
        summary["unfinished"] + summary["failed"],
        summary["goodput_bps"],
        beside.rate(begun, min(begun + seconds, time.monotonic())) if beside else 0.0,
    )
