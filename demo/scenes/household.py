# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A household's line: a call, pages and a video, beside backups going up and downloads coming down."""

from __future__ import annotations

import argparse
import contextlib
import math
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from demo import background as transfers
from demo.background import Background, downloading, make_source, uploading
from demo.scene import (
    NONE,
    Progress,
    Report,
    Scenario,
    Scene,
    Table,
    bars,
    figure,
    line,
    loaded,
    p95,
    pages_take,
    titled,
)
from demo.users import said, user
from testbed import Namespace, Nginx, Process, TestbedError

_CALL_PORT = 7400


@dataclass(frozen=True)
class Load:
    """What goes on in the background."""

    key: str
    title: str
    uploads: int
    downloads: int


LOADS = (
    Load("up", "2 backups up", 2, 0),
    Load("down1", "1 download", 0, 1),
    Load("down4", "4 downloads", 0, 4),
    Load("down16", "16 downloads", 0, 16),
    Load("both", "2 backups up, 4 downloads", 2, 4),
)


@dataclass(frozen=True)
class Conditions:
    """All that is the same in every run; README.md of the demo says why each."""

    up_bps: int = 10_000_000
    down_bps: int = 50_000_000
    rtt_ms: int = 20
    buffer_ms: int = 500
    warmup_s: float = 6.0
    seconds: float = 30.0
    seed: int = 1
    #: A call: 160 bytes of sound and 12 of RTP's header, 50 times a second, each way.
    call_per_s: int = 50
    call_bytes: int = 172
    #: A page: one document, then what it needs, six at a time.
    page: tuple[int, ...] = (40_000, *(20_000, 60_000, 110_000) * 4)
    page_every_s: float = 3.0
    #: A video: four seconds a segment, the rates of a common ladder, and at most three segments ahead.
    segment_s: float = 4.0
    ladder_bps: tuple[int, ...] = (1_000_000, 2_500_000, 5_000_000, 8_000_000)
    ahead_s: float = 12.0

    def transfers(self, load: Load) -> transfers.Conditions:
        """The demo's conditions of those transfers: enough bytes to outlast the run."""
        return transfers.Conditions(
            rate_bps=self.up_bps,
            uploads=load.uploads,
            downloads=load.downloads,
            warmup_s=self.warmup_s,
            seconds=self.seconds,
        )


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
    def name(self) -> str:
        return f"{self.load or 'nothing'}, {self.kind}"

    @property
    def call_p95_ms(self) -> float:
        """The latency, there and back, that one packet of twenty of the call exceeds."""
        return p95(self.call_ms)

    @property
    def page_mean_ms(self) -> float:
        """Of the pages that came."""
        return sum(self.page_ms) / len(self.page_ms) if self.page_ms else math.inf


def run(scenario: Scenario, load: Load | None, source: File, c: Conditions, report: Report) -> Result:
    """Runs it from fresh namespaces to their removal; ``load`` None is the household with nothing beside it."""
    page = {f"object{number}": size for number, size in enumerate(c.page)}
    files = {**page, "video": int(max(c.ladder_bps) * c.segment_s / 8)}
    times = ("--seconds", c.seconds, "--warmup", c.warmup_s)
    sound = ("--per-s", c.call_per_s, "--size", c.call_bytes)
    player = ("--segment", c.segment_s, "--ahead", c.ahead_s, "--ladder", *c.ladder_bps)
    with (
        Namespace("home") as home,
        Namespace("net") as net,
        line(home, net, c.up_bps, c.down_bps, c.rtt_ms, c.buffer_ms, priority=scenario.priority) as path,
        Nginx(net, files) as web,
        user(net, "answer", _CALL_PORT) as answering,
        _background(scenario, load, source, c, home, net) as (up, down),
        _ready(answering),
        user(home, "call", net.address, _CALL_PORT, *sound, *times) as call,
        user(home, "pages", *map(web.url, page), "--every", c.page_every_s, "--seed", c.seed, *times) as pages,
        user(home, "video", web.url("video"), *times, *player) as video,
    ):
        begin = time.monotonic() + c.warmup_s
        called, browsed, watched = (_seen(process, begin, c, (up, down), report) for process in (call, pages, video))
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


def _ready(process: Process) -> contextlib.nullcontext[None]:
    """Waits until it has said so."""
    if not process.line():
        _, err = process.wait()
        raise TestbedError(f"no answer to the call: {err.strip()}")
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


def _seen(
    process: Process, begin: float, c: Conditions, background: tuple[Background | None, ...], report: Report
) -> dict[str, Any]:
    while True:
        elapsed = time.monotonic() - begin + c.warmup_s
        for one in background:
            if one:
                one.check()
        report(min(elapsed / (c.warmup_s + c.seconds), 1.0), "")
        with contextlib.suppress(subprocess.TimeoutExpired):
            return said(process, 1.0)


def _moved(background: Background | None, begin: float, c: Conditions) -> float:
    """Bytes that arrived in the measured time."""
    return background.received.rate(begin, begin + c.seconds) * c.seconds / 8 if background else 0.0


_KINDS = {"cubic": "plain", "netnice": "netnice", "priority": "ideal"}
_TITLES = {load.key: load.title for load in LOADS}


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a run; a page's ratio is to the household with nothing beside it."""
    alone = next((one for one in results if not one.load), None)
    ideal = {one.load: one for one in results if one.kind == "priority"}
    return [_row(one, alone, ideal.get(one.load)) for one in results]


def _row(one: Result, alone: Result | None, ideal: Result | None) -> tuple[str, ...]:
    stalls = f"{one.stalled_s:.1f} s" if one.stalls else "none"
    return (
        titled(_TITLES.get(one.load, "nothing"), one),
        _KINDS.get(one.kind, ""),
        f"{one.call_p95_ms:.0f} ms",
        f"{100 * one.call_lost / one.call_sent:.1f} %",
        pages_take(one.page_mean_ms, one.pages_failed, alone.page_mean_ms if alone and alone is not one else None),
        f"{stalls}, {one.video_bps / 1e6:.1f} Mbit/s",
        _moved_cell(one.up_bytes, ideal.up_bytes if ideal else 0, ideal is one),
        _moved_cell(one.down_bytes, ideal.down_bytes if ideal else 0, ideal is one),
    )


def _moved_cell(size: float, ideal: float, is_ideal: bool) -> str:
    if not size and not ideal:
        return NONE
    share = f", {100 * size / ideal:.0f} %" if ideal and not is_ideal else ""
    return f"{size / 1e6:.0f} MB{share}"


class Household(Scene[Result]):
    """The scene, as the demo's command shows it."""

    LOADS = LOADS
    PROGRAMS = ("nginx", "rsync", "curl")
    TABLE = Table(("background", "how", "call p95", "lost", "page", "video stalls", "moved up", "moved down"), rows)

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.conditions = Conditions(seconds=options.seconds, seed=options.seed)

    def run(self) -> None:
        """All of it: the household alone, then each load in each way."""
        kinds: Sequence[Scenario] = self.options.scenarios
        runs: list[tuple[Scenario, Load | None]] = [(one, None) for one in kinds if one.kind == "none"]
        runs += [(one, load) for load in self.options.loads for one in kinds if one.kind != "none"]
        source = make_source(self.conditions.transfers(LOADS[0]))
        for number, (kind, load) in enumerate(runs, 1):
            progress = Progress(f"{number}/{len(runs)} {kind.title.format(transfers=load.title if load else '')}")
            with loaded(kind.kind):
                result = run(kind, load, source, self.conditions, progress)
            progress.end(f"call {result.call_p95_ms:.0f} ms, page {result.page_mean_ms:.0f} ms")
            self.results.append(result)

    def draw(self, file: File) -> None:
        """A row a measure: what those at home felt is above, what the background moved below."""
        c, results = self.conditions, self.results
        loads = [load for load in LOADS if any(one.load == load.key for one in results)]
        made = figure(2.4 * max(len(loads), 1) + 2, 9)
        measures: dict[str, Callable[[Result], float]] = {
            "call: p95 of the latency,\nthere and back, ms (log)": lambda one: one.call_p95_ms,
            "a page, mean, ms (log)": lambda one: one.page_mean_ms,
            "background moved, MB": lambda one: (one.up_bytes + one.down_bytes) / 1e6,
        }
        rows_of_axes = made.subplots(len(measures), 1, sharex=True)
        for axes, (label, of) in zip(rows_of_axes, measures.items(), strict=True):
            values = {(one.load, one.kind): of(one) for one in results}
            alone = next((of(one) for one in results if not one.load), 0)
            bars(axes, [load.key for load in loads], values, alone)
            axes.set_ylabel(label)
            axes.grid(axis="y", alpha=0.3)
            if label.endswith("(log)"):
                axes.set_yscale("log")
        axes.set_xticks(range(len(loads)), [load.title.replace(", ", ",\n") for load in loads])
        rows_of_axes[0].legend(loc="upper left", fontsize=8)
        made.suptitle(
            f"A household: {c.down_bps / 1e6:g} Mbit/s down, {c.up_bps / 1e6:g} up, {c.rtt_ms} ms, "
            f"{c.buffer_ms} ms of buffer; a call, pages and a video"
        )
        made.savefig(file, dpi=110)
