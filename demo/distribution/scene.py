# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One run of the distribution: an origin, two caches and eight clients, each behind a path of its own."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as File

from demo.distribution.conditions import Conditions, Link, Setting
from demo.distribution.result import Client, Result, pings
from testbed import Namespace, Nginx, Path, Process, RsyncDaemon, TestbedError, program, scratch
from testbed.rsync import throttle

Report = Callable[[float, str], None]

_FILE = "release"
_LOOK_S = 0.01


@dataclass(frozen=True)
class _Place:
    """A client's place, its link, whom it asks, the words that fetch into ``got``, and what its server runs first."""

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
        source = stack.enter_context(Nginx(origin, {_FILE: c.file_bytes}, _under(setting)))
        places = [place for links in c.links for place in _replica(stack, paths, origin, source, links, setting, c)]
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
    paths.append(stack.enter_context(_path(replica, origin, c.trunk, c)))
    cache = stack.enter_context(Nginx(replica, {}, _under(setting), origin=source.url("")))
    places = []
    for number, link in enumerate(links):
        client = stack.enter_context(Namespace("client"))
        paths.append(stack.enter_context(_path(client, replica, link, c)))
        got = scratch("distribution") / f"{replica.name}-{number}"
        # The server's address is that of this very path: the next one's takes its place.
        if link.client == "curl":
            words, first = _curl(cache, got, _limit(setting, link, "client"), _limit(setting, link, "server")), []
        else:
            daemon = stack.enter_context(RsyncDaemon(replica, _under(setting), limit=_limit(setting, link, "server")))
            words = ["rsync", *throttle(_limit(setting, link, "client")), daemon.source(_FILE), str(got)]
            first = _curl(cache, daemon.out / _FILE)
        places.append(_Place(client, link, replica, replica.address, words, got, first))
    return places


def _under(setting: Setting) -> list[str]:
    return [program("netnice")] if setting.kind == "netnice" else []


def _limit(setting: Setting, link: Link, by: str) -> int:
    """Bytes a second that the client's side or the server's holds to; 0: no limit."""
    return setting.limit(link) // 8 if setting.by == by else 0


def _curl(cache: Nginx, got: File, client_limit: int = 0, server_limit: int = 0) -> list[str]:
    """Bytes a second that either side holds to; it prints how long it took."""
    words = ["curl", "--silent", "--show-error", "--fail", "--write-out", "%{time_total}", "--output", str(got)]
    limit = ["--limit-rate", str(client_limit)] if client_limit else []
    query = f"?limit={server_limit}" if server_limit else ""
    return [*words, *limit, cache.url(_FILE) + query]


def _path(near: Namespace, far: Namespace, link: Link, c: Conditions) -> Path:
    return Path(near, far, rate=f"{link.rate_bps}bit", rtt=f"{link.rtt_ms}ms", queue=f"{c.queue_bytes(link)}B")


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
        pinging = [stack.enter_context(_ping(place, c)) for place in places]
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
    return [
        Client(
            rate_bps=place.link.rate_bps,
            rtt_ms=place.link.rtt_ms,
            least_s=c.least_s(place.link),
            took_s=took[number],
            ping_ms=_seen(pings(said, begin, begin + took[number]), place),
        )
        for number, (place, said) in enumerate(zip(places, told, strict=True))
    ]


def _ping(place: _Place, c: Conditions) -> Process:
    words = ["-n", "-D", "-i", str(c.ping_every_s), place.address]
    return place.namespace.spawn("ping", *words, stdout=subprocess.PIPE)


def _seen(latencies: list[float], place: _Place) -> list[float]:
    if not latencies:
        raise TestbedError(f"no ping was answered on the link of {place.link.rate_bps / 1e6:g} Mbit/s")
    return latencies
