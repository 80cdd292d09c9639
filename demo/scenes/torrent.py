# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""BitTorrent on an access link: its queue by plain TCP, by uTP and by netnice, and pages beside it."""

from __future__ import annotations

import argparse
import contextlib
import math
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from demo.background import under
from demo.scene import (
    NONE,
    Progress,
    Report,
    Scenario,
    Scene,
    Table,
    figure,
    line,
    loaded,
    p95,
    pages_take,
    titled,
)
from demo.users import said, user
from testbed import Namespace, Nginx, TestbedError, Tracker, Transmission, random_file, scratch, sockets

#: DSCP LE (RFC 8622) as the byte that transmission sets.
_LE = "0x04"


@dataclass(frozen=True)
class Load:
    """What the client at home does."""

    key: str
    title: str
    #: Which way the data goes on the path, as its trace has it.
    direction: str
    up_bps: int = 10_000_000
    down_bps: int = 10_000_000
    rtt_ms: int = 20
    buffer_ms: int = 500

    @property
    def rate_bps(self) -> int:
        """What the torrent goes through."""
        return self.up_bps if self.direction == "up" else self.down_bps

    @property
    def counted(self) -> str:
        """The client's own count of it."""
        return "uploadedEver" if self.direction == "up" else "downloadedEver"


LOADS = (
    Load("seed", "seeds", "up"),
    Load("leech", "fetches", "down"),
    #: The line of lbe-fig6 in the lab.
    Load("adsl", "seeds by ADSL", "up", up_bps=1_000_000, down_bps=8_000_000, rtt_ms=50, buffer_ms=1000),
)

SCENARIOS = (
    Scenario("nothing", "nothing", "none"),
    Scenario("cubic", "plain TCP (CUBIC)", "plain"),
    Scenario("utp", "its own uTP", "plain"),
    Scenario("netnice", "TCP under netnice", "netnice"),
    Scenario("priority", "ideal: priority queue", "marked", priority=True),
)


@dataclass(frozen=True)
class Conditions:
    """All that is the same in every run; README.md of the demo says why each."""

    peers: int = 4
    #: Clients choose peers to send to every ten seconds; plain TCP then needs ten to fill half a second of buffer.
    warmup_s: float = 24.0
    seconds: float = 32.0
    seed: int = 1
    #: A page: one document, then what it needs, six at a time.
    page: tuple[int, ...] = (30_000, *(20_000, 45_000, 70_000) * 2)
    page_every_s: float = 2.0
    sample_ms: int = 20

    def torrent_bytes(self, load: Load) -> int:
        """More than the link carries in a run."""
        return int(load.rate_bps / 8 * (self.warmup_s + self.seconds + 15))


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
    def name(self) -> str:
        return f"{self.load}, {self.kind}"

    @property
    def queue_median_ms(self) -> float:
        """The queueing delay that a packet met half of the time."""
        return statistics.median(self.queue_ms)

    @property
    def queue_p95_ms(self) -> float:
        """The queueing delay exceeded one twentieth of the time."""
        return p95(self.queue_ms)

    @property
    def page_mean_ms(self) -> float:
        """Of the pages that came."""
        return statistics.fmean(self.page_ms) if self.page_ms else math.inf


def run(scenario: Scenario, load: Load, data: File, c: Conditions, report: Report) -> Result:
    """Runs it from fresh namespaces to their removal; a scenario of the kind 'none' has pages alone."""
    pages = {f"object{number}": size for number, size in enumerate(c.page)}
    times = ("--every", c.page_every_s, "--seed", c.seed, "--seconds", c.seconds)
    ways = {"priority": scenario.priority, "interval": f"{c.sample_ms}ms"}
    moved: list[int] = []
    warm = 0.0 if scenario.kind == "none" else c.warmup_s / (c.warmup_s + c.seconds)
    with (
        Namespace("home") as home,
        Namespace("net") as net,
        line(home, net, load.up_bps, load.down_bps, load.rtt_ms, load.buffer_ms, **ways) as path,
        Nginx(net, pages) as web,
        swarm(scenario, load, data, c, home, net) as client,
    ):
        if client:
            _wait(time.monotonic(), c.warmup_s, lambda share: report(share * warm, "warming up"))
            if client.now(load.counted) == 0:
                raise TestbedError(f"transmission {load.title}, but moved nothing in {c.warmup_s:g} s")
        begin = time.monotonic()
        with user(home, "pages", *map(web.url, pages), *times) as browsing:
            if client:
                moved.append(client.now(load.counted))
                _check(scenario, home)
            _wait(begin, c.seconds, lambda share: report(warm + share * (1 - warm), "measuring"))
            if client:
                moved.append(client.now(load.counted))
            took = time.monotonic() - begin
            browsed = said(browsing, 60)
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
    queue = [(one["t"] + offset, one[direction]["queue_bytes"] * 8e3 / rate_bps) for one in lines]
    return [(round(t, 3), round(ms, 3)) for t, ms in queue if 0 <= t <= seconds]


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


@contextlib.contextmanager
def swarm(
    scenario: Scenario, load: Load, data: File, c: Conditions, home: Namespace, net: Namespace
) -> Iterator[Transmission | None]:
    """Yields the client at home, if there is to be a torrent; only it is ever run under netnice."""
    if scenario.kind == "none":
        yield None
        return
    # A client takes two peers of one address for the same, so each has its own.
    addresses = [f"10.77.0.{number}" for number in range(1, c.peers + 1)]
    for address in addresses:
        net.run("ip", "address", "add", f"{address}/32", "dev", "lo")
    home.run("ip", "route", "add", "10.77.0.0/24", "via", net.address)
    before = under(scenario.kind)
    tos = _LE if scenario.kind == "marked" else "default"
    with Tracker(net) as tracker, contextlib.ExitStack() as stack:
        torrent = tracker.announce(data)

        def client(namespace: Namespace, address: str, seeds: bool, before: list[str]) -> Transmission:
            utp = scenario.key == "utp"
            one = Transmission(namespace, address, torrent, seeds=seeds, utp=utp, tos=tos, under=before)
            return stack.enter_context(one)

        # Clients that have the file start first: the tracker tells the others of them.
        if load.direction == "up":
            own = client(home, home.address, True, before)
            clients = [own, *(client(net, address, False, []) for address in addresses)]
        else:
            clients = [client(net, address, True, []) for address in addresses]
            own = client(home, home.address, False, before)
            clients.append(own)
        try:
            yield own
        finally:
            for one in clients:  # all at once: each takes a second to say goodbye to the tracker
                one.process.signal(signal.SIGTERM)


_DOES = {load.key: load.title for load in LOADS}
_KINDS = {one.key: one.title for one in SCENARIOS}
_COLOURS = {"nothing": "#7f7f7f", "cubic": "#c0504d", "utp": "#7a5195", "netnice": "#e8a33d", "priority": "#0b6e99"}


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a run: goodput against plain TCP, pages against pages alone, of the same direction."""
    found = {(one.load, one.kind): one for one in results}
    return [_row(one, found.get((one.load, "cubic")), found.get((one.load, "nothing"))) for one in results]


def _row(one: Result, plain_tcp: Result | None, alone: Result | None) -> tuple[str, ...]:
    idle = one.kind == "nothing"
    return (
        titled(_DOES[one.load], one),
        "no torrent" if idle else _KINDS[one.kind],
        f"{one.queue_median_ms:.0f} ms",
        f"{one.queue_p95_ms:.0f} ms",
        NONE if idle else _goodput(one, plain_tcp),
        pages_take(one.page_mean_ms, one.pages_failed, alone.page_mean_ms if alone and alone is not one else None),
    )


def _goodput(one: Result, plain_tcp: Result | None) -> str:
    compared = plain_tcp and plain_tcp is not one and plain_tcp.torrent_bps
    share = f", {100 * one.torrent_bps / plain_tcp.torrent_bps:.0f} %" if plain_tcp and compared else ""
    return f"{one.torrent_bps / 1e6:.2f} Mbit/s{share}"


class Torrent(Scene[Result]):
    """The scene, as the demo's command shows it."""

    SCENARIOS = SCENARIOS
    LOADS = LOADS
    PROGRAMS = ("transmission-daemon", "transmission-create", "opentracker", "nginx", "curl")
    TABLE = Table(("the client", "by", "queueing delay, median", "95th percentile", "torrent", "page, mean"), rows)

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.conditions = Conditions(seconds=options.seconds, seed=options.seed)

    def run(self) -> None:
        """Each direction in each way."""
        runs = [(kind, load) for load in self.options.loads for kind in self.options.scenarios]
        data = scratch("torrent") / "data"
        random_file(data, max(map(self.conditions.torrent_bytes, self.options.loads)))
        for number, (kind, load) in enumerate(runs, 1):
            progress = Progress(f"{number}/{len(runs)} {load.key}: {kind.title}")
            with loaded(kind.kind):
                result = run(kind, load, data, self.conditions, progress)
            progress.end(f"queue {result.queue_median_ms:.0f} ms, torrent {result.torrent_bps / 1e6:.2f} Mbit/s")
            self.results.append(result)

    def draw(self, file: File) -> None:
        """The link's queueing delay over time: a row for each thing that the client does, a line a way of sending."""
        loads = [load for load in LOADS if any(one.load == load.key for one in self.results)]
        made = figure(9, 3.2 * len(loads) + 0.6)
        for axes, load in zip(made.subplots(len(loads), 1, squeeze=False)[:, 0], loads, strict=True):
            for one in self.results:
                if one.load == load.key:
                    label = f"{_KINDS[one.kind]}: {one.torrent_bps / 1e6:.1f} Mbit/s"
                    axes.plot(one.queue_t, one.queue_ms, color=_COLOURS[one.kind], linewidth=1, label=label)
            axes.set_yscale("symlog", linthresh=10)
            axes.set_ylim(0, 8 * load.buffer_ms)  # the legend has its place above what can be
            axes.set_ylabel("queueing delay, ms")
            axes.set_title(
                f"{load.title}: {load.rate_bps / 1e6:g} Mbit/s, {load.rtt_ms} ms, {load.buffer_ms} ms of buffer",
                fontsize=10,
            )
            axes.grid(alpha=0.3)
            axes.legend(fontsize=8, loc="upper right", ncols=2)
        axes.set_xlabel("seconds")
        made.suptitle(f"A torrent of {self.conditions.peers} peers on an access link, pages beside it")
        made.savefig(file, dpi=110)
