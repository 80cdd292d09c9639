# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Figure 10 of TCP Nice with real programs: its conditions, its machines, and one run.

A site is behind netnice-prefetch, two homes with sixteen virtual clients are behind the other end of the link. The
clients play their visits, and what they waited for is put together. README.md of the demo says why each condition.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from testbed import Namespace, Path, Process, TestbedError, program, scratch, sockets
from testbed.namespace import listens, wait_until

FOREGROUND = "reno"


@dataclass(frozen=True)
class Link:
    """What is between the server and both hosts."""

    key: str
    title: str
    rate_bps: int
    rtt_ms: int
    queue: str
    seconds: float
    """Measured; on a slow link less is demanded in a second."""


@dataclass(frozen=True)
class Arm:
    """How eagerly is prefetched, and on which congestion control; both empty for none."""

    preset: str = ""
    congestion_control: str = ""

    @property
    def key(self) -> str:
        return f"{self.preset}-{self.congestion_control}" if self.preset else "none"


@dataclass(frozen=True)
class Conditions:
    """All that is the same in every run."""

    hosts: int = 2
    clients_per_host: int = 8
    pages: int = 200
    learned_visits: int = 4000
    played_visits: int = 400
    think: str = "3s"
    hints: int = 100
    warmup_s: float = 20.0


PRESETS = ("conservative", "aggressive")
CONGESTION_CONTROLS = ("reno", "cubic", "nice", "netnice")
LINKS = (
    Link("cable", "cable modem: 5 Mbit/s, 30 ms", 5_000_000, 30, "60kB", 60),
    Link("modem", "modem: 56 kbit/s, 150 ms", 56_000, 150, "15kB", 110),
)
ARMS = (Arm(), *(Arm(preset, name) for preset in PRESETS for name in CONGESTION_CONTROLS))

_SETTINGS = """\
upstream = "http://127.0.0.1:{site}"
listen = ["0.0.0.0:{proxy}"]
[prefetch]
mode = "{mode}"
preset = "{preset}"
background = ["{background}"]
foreground = "{foreground}"
hints = {hints}
clients = 1
trust_logs = true
busy = 100000
deadline = "1h"
[limits]
stall = "10min"
"""


def settings(arm: Arm, c: Conditions, site: int, proxy: int) -> str:
    """What netnice-prefetch is told, here and in the lab's nice-fig10: on the port ``proxy``, before ``site``."""
    return _SETTINGS.format(
        site=site,
        proxy=proxy,
        mode="link" if arm.preset else "off",
        preset=arm.preset or "conservative",
        background=arm.congestion_control or FOREGROUND,
        foreground=FOREGROUND,
        hints=c.hints,
    )


_ORIGIN, _PROXY = 8000, 8080
_one_at_a_time = threading.Lock()
"""Namespaces are numbered, and no two may be given the same number."""


@dataclass(frozen=True)
class Logs:
    """What the proxy has learned, and what each host plays."""

    learned: File
    store: File
    played: Sequence[File]


def make_logs(c: Conditions) -> Logs:
    """A day that was, and one a host that is."""
    folder = scratch("prefetching")
    with _machine("maker") as machine:
        made = []
        for seed in range(1, c.hosts + 2):
            visits = c.learned_visits if seed == 1 else c.played_visits
            numbers = {"visits": visits, "seed": seed, "pages": c.pages, "think": c.think}
            words = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
            made.append(folder / f"day{seed}.log")
            made[-1].write_text(machine.run(program("netnice-replay"), "generate", *words).stdout)
        store = folder / "learned.redb"
        machine.run(program("netnice-prefetch"), "train", made[0], "--store", store)
    return Logs(made[0], store, made[1:])


@dataclass(frozen=True)
class World:
    """One run's machines."""

    server: Namespace
    hosts: list[Namespace]
    path: Path
    port: int = _PROXY

    @property
    def url(self) -> str:
        return f"http://{self.server.address}:{self.port}"


@contextlib.contextmanager
def world(link: Link, arm: Arm, logs: Logs, c: Conditions) -> Iterator[World]:
    """The machines while the context lasts, with all servers up."""
    with contextlib.ExitStack() as stack:
        names = ["server", "gateway", *(f"host{n}" for n in range(c.hosts))]
        with _one_at_a_time:
            server, gateway, *hosts = [stack.enter_context(_machine(name)) for name in names]
        path = Path(server, gateway, rate=f"{link.rate_bps}bit", rtt=f"{link.rtt_ms}ms", queue=link.queue)
        stack.enter_context(path)
        gateway.sysctl("net.ipv4.ip_forward", "1")
        links = [one.key for one in LINKS]
        first = (links.index(link.key) * len(ARMS) + ARMS.index(arm)) * c.hosts
        for number, host in enumerate(hosts, first):
            _attach(server, gateway, host, number)
        stack.enter_context(_origin(server, logs))
        stack.enter_context(_proxy(server, arm, logs, c))
        yield World(server, hosts, path)


def _machine(label: str) -> Namespace:
    return Namespace(label, congestion_control=FOREGROUND)


def _attach(server: Namespace, gateway: Namespace, host: Namespace, number: int) -> None:
    """A cable from the gateway to the host, in a network of its own: flows to one address know of each other."""
    network, device = f"198.18.{number}", f"home{number}"
    gateway.run("ip", "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", host.name)
    for namespace, name, last in ((gateway, device, 1), (host, "eth0", 2)):
        namespace.run("ip", "addr", "add", f"{network}.{last}/24", "dev", name)
        namespace.run("ip", "link", "set", name, "up")
    host.run("ip", "route", "add", "default", "via", f"{network}.1")
    server.run("ip", "route", "add", f"{network}.0/24", "via", gateway.address)


def _origin(server: Namespace, logs: Logs) -> Process:
    files = (logs.learned, *logs.played)
    process = server.spawn(program("netnice-replay"), "serve", *files, "--listen", f"127.0.0.1:{_ORIGIN}")
    wait_until(lambda: listens(server, _ORIGIN), "the site", process=process)
    return process


def _proxy(server: Namespace, arm: Arm, logs: Logs, c: Conditions) -> Process:
    folder = scratch("proxy")
    file, store = folder / "settings.toml", folder / "learned.redb"
    shutil.copy(logs.store, store)
    file.write_text(settings(arm, c, _ORIGIN, _PROXY))
    process = server.spawn(program("netnice-prefetch"), "--config", file, "--store", store)
    wait_until(lambda: listens(server, _PROXY), "the proxy", process=process)
    if not process.running():
        raise TestbedError("the proxy ended at once")
    return process


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

    @property
    def name(self) -> str:
        return f"{self.link} {self.arm}"


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
