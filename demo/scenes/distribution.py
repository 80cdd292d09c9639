# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A file for many clients on unlike links, by way of replication servers (TCP Nice, section 6.2)."""

from __future__ import annotations

import argparse
import contextlib
import re
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, Literal

from demo.background import under
from demo.scene import Progress, Report, Scene, Table, figure, line, loaded, titled
from testbed import Namespace, Nginx, Path, RsyncDaemon, TestbedError, scratch
from testbed.servers import throttle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILE = "release"
_LOOK_S = 0.01
_REPLY = re.compile(r"^\[(\d+\.\d+)\].* time=([\d.]+) ms$", re.MULTILINE)


@dataclass(frozen=True)
class Link:
    """What lies between a replication server and a client."""

    rate_bps: int
    rtt_ms: int
    #: What the client fetches the file with: curl from nginx as it arrives there, rsync from the server's copy of it.
    client: Literal["curl", "rsync"] = "curl"


@dataclass(frozen=True)
class Setting:
    """How the file is sent: ``limit_bps`` throttles every client alike, ``share`` each to that much of its own link.

    ``by`` names the throttle's place: the client (curl, rsync) or the server (nginx, the rsync daemon).
    """

    key: str
    title: str
    kind: Literal["plain", "netnice"] = "plain"
    limit_bps: int = 0
    share: float = 0.0
    by: Literal["client", "server"] = "client"

    def limit(self, link: Link) -> int:
        """Bits per second that a client on that link is throttled to; 0: not at all."""
        return int(self.share * link.rate_bps) if self.share else self.limit_bps

    def limited(self, link: Link, by: str) -> int:
        """Bytes a second that the client's side or the server's holds to; 0: no limit."""
        return self.limit(link) // 8 if self.by == by else 0


LIMITS = tuple(
    Setting(f"{mbit}m", f"CUBIC, each at most {mbit} Mbit/s", limit_bps=mbit * 1_000_000) for mbit in (1, 2, 4, 8, 16)
)
SHARES = tuple(
    Setting(f"{percent}%", f"CUBIC, each at most {percent} % of its own link", share=percent / 100)
    for percent in (70, 90)
)
SERVERS = tuple(
    Setting(f"{one.key}server", f"{one.title}, by the server", share=one.share, by="server") for one in SHARES
)
SCENARIOS = (
    Setting("netnice", "netnice, no throttle", kind="netnice"),
    Setting("cubic", "CUBIC, no throttle"),
    *LIMITS,
    *SHARES,
    *SERVERS,
)


@dataclass(frozen=True)
class Conditions:
    """All that is the same with every setting; README.md of the demo says why each."""

    #: One tuple a replication server.
    links: tuple[tuple[Link, ...], ...] = (
        (Link(1_000_000, 60), Link(4_000_000, 30, "rsync"), Link(8_000_000, 30), Link(25_000_000, 20)),
        (Link(1_500_000, 50), Link(2_000_000, 40, "rsync"), Link(16_000_000, 20), Link(50_000_000, 10)),
    )
    trunk: Link = Link(100_000_000, 20)
    buffer_ms: int = 300
    file_bytes: int = 3_000_000
    ping_every_s: float = 0.1
    #: A client that has not got the file by then fails the run.
    patience_s: float = 120.0

    def least_s(self, link: Link) -> float:
        """The file's own bits at the link's rate: no transfer is shorter."""
        return self.file_bytes * 8 / link.rate_bps

    def path(self, near: Namespace, far: Namespace, link: Link) -> Path:
        """The link between two namespaces."""
        return line(near, far, link.rate_bps, link.rate_bps, link.rtt_ms, self.buffer_ms)


@dataclass(frozen=True)
class Client:
    """One client: its link, when it had the file, and its pings' latencies until then."""

    rate_bps: int
    rtt_ms: int
    least_s: float
    took_s: float
    ping_ms: list[float]

    @property
    def times(self) -> float:
        """The completion time as a multiple of the least that the link allows."""
        return self.took_s / self.least_s

    @property
    def waited_ms(self) -> float:
        """The mean latency of a ping during the transfer."""
        return statistics.fmean(self.ping_ms)


@dataclass(frozen=True)
class Result:
    """All clients of one setting."""

    key: str
    title: str
    clients: list[Client]
    path_trusted: bool
    path_reasons: list[str]

    @property
    def name(self) -> str:
        return self.key

    @property
    def ping_ms(self) -> float:
        """Ping latency during the transfers, every client alike."""
        return statistics.fmean(one.waited_ms for one in self.clients)

    @property
    def times(self) -> float:
        """Completion time, every client alike: in multiples of the least that its link allows."""
        return statistics.fmean(one.times for one in self.clients)

    @property
    def last_s(self) -> float:
        """When all clients had the file."""
        return max(one.took_s for one in self.clients)

    def beats(self, other: Result, by: float = 0.05) -> bool:
        """Whether it is better both in latency and in completion time, by more than a share ``by``."""
        return self.ping_ms < (1 - by) * other.ping_ms and self.times < (1 - by) * other.times


def better(results: Sequence[Result]) -> list[Result]:
    """The throttle settings that beat netnice; none should."""
    return [one for ours in results if ours.key == "netnice" for one in results if one.beats(ours)]


def pings(said: str, begin: float, end: float) -> list[float]:
    """Latencies of the replies that ``ping -D`` told of between two moments of the clock."""
    return [float(ms) for moment, ms in _REPLY.findall(said) if begin <= float(moment) <= end]


@dataclass(frozen=True)
class _Place:
    """A client's place, its link and server, the command that fetches into ``got``, and what its server runs first."""

    namespace: Namespace
    link: Link
    server: Namespace
    address: str
    words: list[str]
    got: File
    first: list[str]


def run(setting: Setting, c: Conditions, report: Report) -> Result:
    """Runs it from fresh namespaces to their removal."""
    paths: list[Path] = []
    with contextlib.ExitStack() as stack:
        origin = stack.enter_context(Namespace("origin"))
        source = stack.enter_context(Nginx(origin, {_FILE: c.file_bytes}, under(setting.kind)))
        places = [one for links in c.links for one in _replica(stack, paths, origin, source, links, setting, c)]
        clients = _distribute(places, c, report)
    return Result(
        key=setting.key,
        title=setting.title,
        clients=clients,
        path_trusted=all(path.trusted for path in paths),
        path_reasons=sorted({reason for path in paths for reason in path.summary["reasons"]}),
    )


def _replica(
    stack: contextlib.ExitStack,
    paths: list[Path],
    origin: Namespace,
    source: Nginx,
    links: tuple[Link, ...],
    setting: Setting,
    c: Conditions,
) -> list[_Place]:
    """A replication server behind the trunk, its cache empty, and the places of its clients."""
    replica = stack.enter_context(Namespace("replica"))
    paths.append(stack.enter_context(c.path(replica, origin, c.trunk)))
    cache = stack.enter_context(Nginx(replica, {}, under(setting.kind), origin=source.url("")))
    places = []
    for number, link in enumerate(links):
        client = stack.enter_context(Namespace("client"))
        paths.append(stack.enter_context(c.path(client, replica, link)))
        got = scratch("distribution") / f"{replica.name}-{number}"
        by_client, by_server = setting.limited(link, "client"), setting.limited(link, "server")
        # The server's address is that of this very path: the next one's takes its place.
        if link.client == "curl":
            words, first = _curl(cache, got, by_client, by_server), []
        else:
            daemon = stack.enter_context(RsyncDaemon(replica, under(setting.kind), limit=by_server))
            words = ["rsync", *throttle(by_client), daemon.source(_FILE), str(got)]
            first = _curl(cache, daemon.out / _FILE)
        places.append(_Place(client, link, replica, replica.address, words, got, first))
    return places


def _curl(cache: Nginx, got: File, client_limit: int = 0, server_limit: int = 0) -> list[str]:
    """Bytes a second that either side holds to; it prints how long it took."""
    words = ["curl", "--silent", "--show-error", "--fail", "--write-out", "%{time_total}", "--output", str(got)]
    limit = ["--limit-rate", str(client_limit)] if client_limit else []
    query = f"?limit={server_limit}" if server_limit else ""
    return [*words, *limit, cache.url(_FILE) + query]


class _Fetch:
    """One client's transfer: first what its server has to do for it, if anything, then its own."""

    def __init__(self, place: _Place, stack: contextlib.ExitStack) -> None:
        self.place, self._stack, self._began = place, stack, time.time()
        self._steps = [(place.server, place.first)] if place.first else []
        self._steps.append((place.namespace, place.words))
        self._step()

    def _step(self) -> None:
        where, words = self._steps.pop(0)
        self._process = self._stack.enter_context(where.spawn(*words, stdout=subprocess.PIPE))

    def took(self, c: Conditions) -> float | None:
        """After how many seconds the client had the whole file, by its own clock if it tells; None: it has not yet."""
        if self._process.running():
            return None
        told, err = self._process.wait()
        if self._process.returncode != 0:
            raise TestbedError(f"a client did not get the file: {err.strip()}")
        if self._steps:
            self._step()
            return None
        if (size := self.place.got.stat().st_size) != c.file_bytes:
            raise TestbedError(f"a client got {size} of {c.file_bytes} bytes")
        self.place.got.unlink()
        return float(told) if told else time.time() - self._began


def _distribute(places: list[_Place], c: Conditions, report: Report) -> list[Client]:
    """Every client fetches the file at once; returns when all have it."""
    with contextlib.ExitStack() as stack:
        ping = ("ping", "-n", "-D", "-i", str(c.ping_every_s))
        started = (place.namespace.spawn(*ping, place.address, stdout=subprocess.PIPE) for place in places)
        pinging = [stack.enter_context(process) for process in started]
        begin = time.time()
        fetching = [_Fetch(place, stack) for place in places]
        took: dict[int, float] = {}
        while len(took) < len(places):
            elapsed = time.time() - begin
            if elapsed > c.patience_s:
                raise TestbedError(f"{len(places) - len(took)} clients had not got the file after {elapsed:.0f} s")
            report(len(took) / len(places), f"{len(took)} of {len(places)} clients have it")
            time.sleep(_LOOK_S)
            for number, fetch in enumerate(fetching):
                if number not in took and (seconds := fetch.took(c)) is not None:
                    took[number] = seconds
        told = [process.end()[0] for process in pinging]
    clients = [
        Client(
            rate_bps=place.link.rate_bps,
            rtt_ms=place.link.rtt_ms,
            least_s=c.least_s(place.link),
            took_s=took[number],
            ping_ms=pings(said, begin, begin + took[number]),
        )
        for number, (place, said) in enumerate(zip(places, told, strict=True))
    ]
    if silent := [f"{one.rate_bps / 1e6:g}" for one in clients if not one.ping_ms]:
        raise TestbedError(f"no ping was answered on the link of {silent[0]} Mbit/s")
    return clients


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row a setting."""
    return [_row(one) for one in results]


def _row(one: Result) -> tuple[str, ...]:
    slowest = min(one.clients, key=lambda client: client.rate_bps)
    fastest = max(one.clients, key=lambda client: client.rate_bps)
    return (
        titled(one.title, one),
        f"{one.ping_ms:.0f} ms",
        f"{slowest.waited_ms:.0f} ms",
        f"{one.times:.2f}",
        f"{fastest.times:.2f}",
        f"{one.last_s:.1f} s",
    )


def answer(results: Sequence[Result]) -> str:
    """Whether a throttle is better than none under netnice; nothing where there is nothing to compare."""
    if len(results) < 2 or not any(one.key == "netnice" for one in results):
        return ""
    worse_than = ", ".join(one.title for one in better(results))
    return f"Better than netnice both ways by over 5 %: {worse_than or 'no setting'}."


class Distribution(Scene[Result]):
    """The scene, as the demo's command shows it."""

    SCENARIOS = SCENARIOS
    OPTIONS = ()
    PROGRAMS = ("nginx", "curl", "ping")
    TABLE = Table(
        ("sent by", "ping, mean", "slowest link's", "completion ÷ least", "fastest link's", "all have it after"),
        rows,
        words=1,
    )

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.conditions = Conditions()

    def run(self) -> None:
        """Each setting."""
        settings: Sequence[Setting] = self.options.scenarios
        for number, setting in enumerate(settings, 1):
            progress = Progress(f"{number}/{len(settings)} {setting.title}")
            with loaded(setting.kind):
                result = run(setting, self.conditions, progress)
            progress.end(f"ping {result.ping_ms:.0f} ms, completion × {result.times:.2f}, {result.last_s:.0f} s")
            self.results.append(result)

    def record(self) -> dict[str, Any]:
        record = super().record()
        for run, one in zip(record["runs"], self.results, strict=True):
            run.update(ping_ms=one.ping_ms, times=one.times)
        return {**record, "better": [one.key for one in better(self.results)]}

    def text(self) -> str:
        """The table, and on a terminal the answer under it."""
        under = "" if self.options.markdown else answer(self.results)
        return super().text() + (f"\n\n{under}" if under else "")

    def draw(self, file: File) -> None:
        """Ping latency against completion time, after TCP Nice's figure 11: down and to the left is better."""
        made = figure(9, 6)
        axes = made.subplots()
        labels = ("CUBIC, one throttle for all", "CUBIC, a throttle for each by its link", "the same in the servers")
        colours = ("#c0504d", "#7f7f7f", "#0b6e99")
        for settings, label, colour in zip((LIMITS, SHARES, SERVERS), labels, colours, strict=True):
            # No throttle is the end of each curve.
            self._curve(axes, [*(one.key for one in settings), "cubic"], label, colour)
        for one in self.results:
            if one.key == "netnice":
                axes.plot(one.times, one.ping_ms, "o", color="#e8a33d", markersize=11, label="netnice, nothing to set")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("{x:g}")
        axes.set_xlabel("completion time ÷ the least that the link allows, mean of the clients (log)")
        axes.set_ylabel("ping during the transfer, mean of the clients, ms")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3, which="both")
        axes.legend()
        c = self.conditions
        links = [link for one in c.links for link in one]
        low, high = min(link.rate_bps for link in links) / 1e6, max(link.rate_bps for link in links) / 1e6
        made.suptitle(
            f"{c.file_bytes / 1e6:g} MB for {len(links)} clients of {low:g} to {high:g} Mbit/s, "
            f"by {len(c.links)} caches"
        )
        made.savefig(file, dpi=110)

    def _curve(self, axes: Axes, keys: list[str], label: str, colour: str) -> None:
        found = {one.key: one for one in self.results}
        points = [found[key] for key in keys if key in found]
        axes.plot([one.times for one in points], [one.ping_ms for one in points], "o-", color=colour, label=label)
        for one in points:
            axes.annotate(one.key, (one.times, one.ping_ms), xytext=(5, 5), textcoords="offset points", fontsize=8)
