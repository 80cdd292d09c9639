# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One run of the distribution: an origin, two caches and eight clients, each behind a path of its own."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from demo.distribution.conditions import Conditions, Link, Setting
from demo.distribution.result import Client, Result, pings
from testbed import Namespace, Nginx, Path, Process, TestbedError, program

Report = Callable[[float, str], None]

_FILE = "release"


@dataclass(frozen=True)
class _Place:
    """A client's place: where it is, its link, and whom it asks."""

    namespace: Namespace
    link: Link
    server: str
    url: str


def run(setting: Setting, c: Conditions, report: Report) -> Result:
    """Runs it from fresh namespaces to their removal."""
    under = [program("netnice")] if setting.kind == "netnice" else []
    paths: list[Path] = []
    with contextlib.ExitStack() as stack:
        origin = stack.enter_context(Namespace("origin"))
        source = stack.enter_context(Nginx(origin, {_FILE: c.file_bytes}, under))
        places = [place for links in c.links for place in _replica(stack, paths, origin, source, links, under, c)]
        clients = _distribute(places, setting, c, report)
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
    under: list[str],
    c: Conditions,
) -> list[_Place]:
    """A replication server behind the trunk, its cache empty, and the places of its clients."""
    replica = stack.enter_context(Namespace("replica"))
    paths.append(stack.enter_context(_path(replica, origin, c.trunk, c)))
    cache = stack.enter_context(Nginx(replica, {}, under, origin=source.url("")))
    places = []
    for link in links:
        client = stack.enter_context(Namespace("client"))
        paths.append(stack.enter_context(_path(client, replica, link, c)))
        places.append(_Place(client, link, replica.address, cache.url(_FILE)))
    return places


def _path(near: Namespace, far: Namespace, link: Link, c: Conditions) -> Path:
    return Path(near, far, rate=f"{link.rate_bps}bit", rtt=f"{link.rtt_ms}ms", queue=f"{c.queue_bytes(link)}B")


def _distribute(places: list[_Place], setting: Setting, c: Conditions, report: Report) -> list[Client]:
    """Every client fetches the file at once; returns when all have it."""
    with contextlib.ExitStack() as stack:
        pinging = [stack.enter_context(_ping(place, c)) for place in places]
        begin = time.time()
        fetching = [stack.enter_context(_fetch(place, setting)) for place in places]
        took: dict[int, float] = {}
        while len(took) < len(places):
            elapsed = time.time() - begin
            if elapsed > c.patience_s:
                raise TestbedError(f"{len(places) - len(took)} clients had not got the file after {elapsed:.0f} s")
            report(len(took) / len(places), f"{len(took)} of {len(places)} clients have it")
            time.sleep(0.1)
            for number, process in enumerate(fetching):
                if number not in took and not process.running():
                    took[number] = _took(process, c)
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
    words = ["-n", "-D", "-i", str(c.ping_every_s), place.server]
    return place.namespace.spawn("ping", *words, stdout=subprocess.PIPE)


def _fetch(place: _Place, setting: Setting) -> Process:
    limit = setting.limit(place.link)
    in_client = ["--limit-rate", str(limit // 8)] if limit and setting.by == "client" else []
    in_server = f"?limit={limit // 8}" if limit and setting.by == "server" else ""
    words = [
        "--silent",
        "--show-error",
        "--fail",
        "--output",
        "/dev/null",
        "--write-out",
        "%{time_total} %{size_download}",
    ]
    return place.namespace.spawn("curl", *words, *in_client, place.url + in_server, stdout=subprocess.PIPE)


def _took(fetching: Process, c: Conditions) -> float:
    out, err = fetching.wait()
    if fetching.returncode != 0:
        raise TestbedError(f"a client did not get the file: {err.strip()}")
    seconds, size = out.split()
    if int(size) != c.file_bytes:
        raise TestbedError(f"a client got {size} of {c.file_bytes} bytes")
    return float(seconds)


def _seen(latencies: list[float], place: _Place) -> list[float]:
    if not latencies:
        raise TestbedError(f"no ping was answered on the link of {place.link.rate_bps / 1e6:g} Mbit/s")
    return latencies
