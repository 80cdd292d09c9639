# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A site behind netnice-prefetch, the link, and two homes behind its other end."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as File

from demo.prefetching.conditions import ARMS, FOREGROUND, LINKS, Arm, Conditions, Link
from demo.prefetching.settings import settings
from testbed import Namespace, Path, Process, TestbedError, program, scratch
from testbed.namespace import wait_until
from testbed.ports import listens

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
        first = (LINKS.index(link) * len(ARMS) + ARMS.index(arm)) * c.hosts
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
