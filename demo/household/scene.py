# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One run of the household: its line, who uses it, and what goes on in the background."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from demo.background import Background
from demo.conditions import Scenario
from demo.downloads import downloading
from demo.household.conditions import Conditions, Load
from demo.uploads import uploading
from testbed import Namespace, Nginx, Path, Process, TestbedError

Report = Callable[[float, str], None]

_TOP = File(__file__).resolve().parents[2]
_CALL_PORT = 7400


@dataclass(frozen=True)
class Result:
    """What one run gave."""

    load: str
    kind: str
    call_ms: list[float]
    call_sent: int
    call_lost: int
    page_ms: list[float]
    pages_failed: int
    stalled_s: float
    stalls: int
    video_bps: float
    up_bytes: float
    down_bytes: float
    path_trusted: bool
    path_reasons: list[str]

    @property
    def call_p95_ms(self) -> float:
        """The latency, there and back, that one packet of twenty of the call exceeds."""
        ranked = sorted(self.call_ms)
        return ranked[max(math.ceil(0.95 * len(ranked)) - 1, 0)] if ranked else math.inf

    @property
    def page_mean_ms(self) -> float:
        """Of the pages that came."""
        return sum(self.page_ms) / len(self.page_ms) if self.page_ms else math.inf


def run(scenario: Scenario, load: Load | None, source: File, c: Conditions, report: Report) -> Result:
    """Runs it from fresh namespaces to their removal; ``load`` None is the household with nothing beside it."""
    page = {f"object{number}": size for number, size in enumerate(c.page)}
    video_bytes = int(max(c.ladder_bps) * c.segment_s / 8)
    with (
        Namespace("home") as home,
        Namespace("net") as net,
        Path(
            home,
            net,
            rate=(f"{c.up_bps}bit", f"{c.down_bps}bit"),
            rtt=f"{c.rtt_ms}ms",
            queue=(f"{c.queue_bytes(c.up_bps)}B", f"{c.queue_bytes(c.down_bps)}B"),
            priority=scenario.priority,
        ) as path,
        Nginx(net, {**page, "video": video_bytes}) as web,
        _user(net, "call", "answer", _CALL_PORT) as answering,
        _background(scenario, load, source, c, home, net) as (up, down),
        _ready(answering),
        _user(home, "call", "call", net.address, _CALL_PORT, *_call(c), *_times(c)) as call,
        _user(home, "pages", *map(web.url, page), "--every", c.page_every_s, "--seed", c.seed, *_times(c)) as pages,
        _user(home, "video", net.address, web.port, "video", *_times(c), *_player(c)) as video,
    ):
        begin = time.monotonic() + c.warmup_s
        called, browsed, watched = (_said(process, begin, c, (up, down), report) for process in (call, pages, video))
    return Result(
        load=load.key if load else "",
        kind=scenario.key,
        call_ms=called["ms"],
        call_sent=called["sent"],
        call_lost=called["lost"],
        page_ms=browsed["ms"],
        pages_failed=browsed["failed"],
        stalled_s=watched["stalled_s"],
        stalls=watched["stalls"],
        video_bps=watched["rate_bps"],
        up_bytes=_moved(up, begin, c),
        down_bytes=_moved(down, begin, c),
        path_trusted=path.trusted,
        path_reasons=list(path.summary["reasons"]),
    )


def _times(c: Conditions) -> tuple[object, ...]:
    return "--seconds", c.seconds, "--warmup", c.warmup_s


def _call(c: Conditions) -> tuple[object, ...]:
    return "--per-s", c.call_per_s, "--size", c.call_bytes


def _player(c: Conditions) -> tuple[object, ...]:
    return "--segment", c.segment_s, "--ahead", c.ahead_s, "--ladder", *c.ladder_bps


def _user(namespace: Namespace, module: str, *words: object) -> Process:
    """One of the household's programs, which prints at its end what it saw."""
    argv = [sys.executable, "-m", f"demo.household.{module}", *map(str, words)]
    return namespace.spawn(*argv, cwd=_TOP, stdout=subprocess.PIPE)


def _ready(process: Process) -> contextlib.nullcontext[None]:
    """Waits until it has said so."""
    if not process.line():
        _, err = process.wait()
        raise TestbedError(f"nobody answers the call: {err.strip()}")
    return contextlib.nullcontext()


@contextlib.contextmanager
def _background(
    scenario: Scenario, load: Load | None, source: File, c: Conditions, home: Namespace, net: Namespace
) -> Iterator[tuple[Background | None, Background | None]]:
    """What goes up, and what comes down."""
    with contextlib.ExitStack() as stack:
        up = down = None
        if load and load.uploads:
            up = stack.enter_context(uploading(source, scenario, c.transfers(load), home, net))
        if load and load.downloads:
            down = stack.enter_context(downloading(scenario, c.transfers(load), net, home))
        yield up, down


def _said(
    process: Process, begin: float, c: Conditions, background: tuple[Background | None, ...], report: Report
) -> dict[str, Any]:
    while True:
        elapsed = time.monotonic() - begin + c.warmup_s
        for one in background:
            if one:
                one.check()
        report(min(elapsed / (c.warmup_s + c.seconds), 1.0), "")
        try:
            out, err = process.wait(1.0)
        except subprocess.TimeoutExpired:
            continue
        if process.returncode != 0:
            raise TestbedError(f"one of the household failed: {err.strip()}")
        return dict(json.loads(out))


def _moved(background: Background | None, begin: float, c: Conditions) -> float:
    """Bytes that arrived in the measured time."""
    return background.received.rate(begin, begin + c.seconds) * c.seconds / 8 if background else 0.0
