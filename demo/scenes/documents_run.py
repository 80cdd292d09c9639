# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One run of documents beside a background: set up a path, load it, measure, put everything away.

Goodputs are payload bytes that reached the receiving namespace inside the measured window. The
foreground's are counted as its clients read them, the background's by ``bytes_received`` of the
sockets that receive it (``ss``). That is sampled every quarter second, and interpolated between
samples. Both are counted the same way in every scenario, marked or not.
"""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path as File
from typing import Any

from demo.background import Background, Conditions, Transferring
from demo.scene import Report, Scenario
from testbed import (
    ByteCounter,
    Namespace,
    Nginx,
    Path,
    Process,
    TestbedError,
    scratch,
    sockets,
)


@dataclass
class Result:
    """What one scenario gave; times in ``timeline`` are seconds since the measured window began."""

    key: str
    title: str
    foreground: dict[str, float]
    background_bps: float
    link_bps: float
    congestion_controls: dict[str, list[str]]
    path_trusted: bool
    path_reasons: list[str]
    lateness_p99_us: float
    timeline: dict[str, list[float]]
    documents: list[tuple[float, float]] = field(repr=False)  # wanted at (s), latency (ms)

    @property
    def name(self) -> str:
        return self.key

    @property
    def mean_ms(self) -> float:
        """How long a document takes."""
        return self.foreground["mean_us"] / 1e3

    @property
    def spare_used(self) -> float:
        """Background goodput as a share of what the foreground left of the link."""
        return self.background_bps / (self.link_bps - self.foreground["goodput_bps"])

    def recorded(self) -> dict[str, Any]:
        """For machines; of each document when it was wanted (s), and how long it took (ms)."""
        record = asdict(self)
        record["latencies"] = [(round(at, 2), round(ms, 1)) for at, ms in record.pop("documents")]
        return record


def run(scenario: Scenario, conditions: Conditions, transferring: Transferring, progress: Report) -> Result:
    """Runs one scenario from fresh namespaces to their removal."""
    c = conditions
    report = scratch("documents") / "report.json"
    with (
        Namespace("a") as a,
        Namespace("b") as b,
        Path(a, b, rate=f"{c.rate_bps}bit", rtt=f"{c.rtt_ms}ms", queue=c.queue, priority=scenario.priority) as path,
        Nginx(a, {"documents": c.largest}) as web,
        transferring(scenario, c, a, b) as background,
        _clients(b, web, c, report) as clients,
    ):
        seen = _watch(a, web, background, clients, c, progress)
        background.received.sample()
    _check_congestion_control(scenario, seen, background)
    received = background.received
    documents = json.loads(report.read_text())
    begin = documents["started_monotonic_us"] / 1e6 + c.warmup_s
    return Result(
        key=scenario.key,
        title=scenario.title.format(transfers=c.transfers),
        foreground=documents["summary"],
        background_bps=received.rate(begin, begin + c.seconds),
        link_bps=c.rate_bps,
        congestion_controls=seen,
        path_trusted=path.trusted,
        path_reasons=list(path.summary["reasons"]),
        lateness_p99_us=path.summary["up"]["lateness"]["p99_us"],
        timeline=_timeline(documents, received, path, begin, c),
        documents=[
            (d["scheduled_us"] / 1e6 - c.warmup_s, d["latency_us"] / 1e3)
            for d in documents["documents"]
            if d["latency_us"] is not None
        ],
    )


def _clients(b: Namespace, web: Nginx, c: Conditions, report: File) -> Process:
    options = {
        "clients": c.clients,
        "load": f"{c.load_bps}bit",
        "seconds": c.seconds,
        "warmup": c.warmup_s,
        "grace": c.grace_s,
        "seed": c.seed,
        "alpha": c.alpha,
        "min": c.smallest,
        "max": c.largest,
        "output": report,
    }
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return b.spawn("netnice-fetch", web.url("documents"), *words)


def _watch(
    a: Namespace,
    web: Nginx,
    background: Background,
    clients: Process,
    c: Conditions,
    progress: Report,
) -> dict[str, list[str]]:
    """Waits for the clients' end; returns the congestion controls that ss showed on the senders."""
    begin = time.monotonic()
    total = c.warmup_s + c.seconds
    seen: dict[str, set[str]] = {"foreground": set(), "background": set()}
    while True:
        elapsed = time.monotonic() - begin
        now = background.received.rate(begin + elapsed - 1.5, begin + elapsed - 0.5) / 1e6
        progress(min(elapsed / total, 1.0), f"background {now:5.2f} Mbit/s" if background.transfers else "")
        background.check()
        if elapsed > c.warmup_s:
            seen["foreground"] |= {s.congestion_control for s in sockets(a, local_port=web.port)}
            seen["background"] |= {s.congestion_control for s in sockets(a, **background.port)}
        try:
            _, err = clients.wait(1.0)
        except subprocess.TimeoutExpired:
            continue
        if clients.returncode != 0:
            raise TestbedError(f"the document clients failed: {err.strip()}")
        return {side: sorted(names - {""}) for side, names in seen.items()}


def _check_congestion_control(scenario: Scenario, seen: dict[str, list[str]], background: Background) -> None:
    expected = background.algorithm if background.transfers else set()
    if set(seen["background"]) != expected or seen["foreground"] != ["cubic"]:
        raise TestbedError(
            f"scenario '{scenario.key}' is void: expected a cubic foreground and a background of "
            f"{sorted(expected) or 'nothing'}, but the kernel's tables show {seen}"
        )


def _timeline(
    documents: dict[str, Any], received: ByteCounter, path: Path, begin: float, c: Conditions
) -> dict[str, list[float]]:
    """Throughputs in steps of half a second, and the queue as the path traced it."""
    step = 0.5
    starts = [i * step - c.warmup_s for i in range(int((c.warmup_s + c.seconds) / step))]
    per = documents["timeline"]["step_ms"] / 1e3
    read = documents["timeline"]["bytes"]

    def foreground(start: float) -> float:
        first = round((start + c.warmup_s) / per)
        return float(sum(read[first : first + round(step / per)])) * 8 / step

    head, *lines = path.trace
    offset = head["monotonic_time"] - begin
    queue = [(line["t"] + offset, line["up"]["queue_bytes"]) for line in lines]
    queue = [(t, q) for t, q in queue if -c.warmup_s <= t <= c.seconds]
    return {
        "t": [start + step / 2 for start in starts],
        "foreground_bps": [foreground(start) for start in starts],
        "background_bps": [received.rate(begin + s, begin + s + step) for s in starts],
        "queue_t": [t for t, _ in queue],
        "queue_bytes": [q for _, q in queue],
    }
