# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What lies between two namespaces: an emulated path, or a bare cable."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any, Self

from testbed import ownership
from testbed.namespace import Namespace, Process, wait_until
from testbed.programs import TestbedError, program


class Path(ownership.Owned):
    """A path between two namespaces by netnice-path; both get an address on it, of several the newest counts.

    ``up`` is from the first namespace to the second; a pair of rates or queues is (up, down). After the context
    ``trusted`` tells whether the machine kept the path's time, ``summary`` is what netnice-path wrote, ``trace`` its
    lines.
    """

    def __init__(
        self,
        a: Namespace,
        b: Namespace,
        *,
        rate: str | tuple[str, str],
        rtt: str,
        queue: str | tuple[str, str] = "1bdp",
        loss: str = "0%",
        priority: bool = False,
        interval: str = "100ms",
    ) -> None:
        super().__init__()
        self.a, self.b = a, b
        self.summary: dict[str, Any] = {}
        self.trace: list[dict[str, Any]] = []
        self._folder = ownership.scratch("path")
        # fmt: off
        argv = [
            program("netnice-path"), "--between", a.name, b.name,
            *_each_way("rate", rate), "--rtt", rtt, *_each_way("queue", queue), "--loss", loss,
            "--json", str(self._folder / "summary"), "--trace", str(self._folder / "trace"),
            "--trace-interval", interval, "--quiet",
        ]
        # fmt: on
        before = [len(_global_addresses(namespace)) for namespace in (a, b)]
        self.process = Process(argv + (["--priority"] if priority else []))
        self._parts.push(self.process)
        for namespace, had in zip((a, b), before, strict=True):
            wait_until(partial(_has_more, namespace, had), "the path's address", process=self.process)
            namespace.address = _address(namespace)

    @property
    def trusted(self) -> bool:
        """Whether packets were delivered in time; only after the context."""
        return bool(self.summary.get("trusted"))

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        self.a.address = self.b.address = ""
        summary, trace = self._folder / "summary", self._folder / "trace"
        if summary.is_file():
            self.summary = json.loads(summary.read_text())
        if trace.is_file():
            self.trace = [json.loads(line) for line in trace.read_text().splitlines()]


class Veth:
    """A virtual cable between two namespaces, no emulator: as fast as the machine."""

    def __init__(self, a: Namespace, b: Namespace) -> None:
        self.a, self.b = a, b
        _ip(a, "link", "add", "veth0", "type", "veth", "peer", "name", "veth0", "netns", b.name)
        for namespace, address in ((a, "100.127.0.1"), (b, "100.127.0.2")):
            _ip(namespace, "addr", "add", f"{address}/24", "dev", "veth0")
            _ip(namespace, "link", "set", "veth0", "up")
            namespace.address = address

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        _ip(self.a, "link", "del", "veth0")
        self.a.address = self.b.address = ""


@contextlib.contextmanager
def black_hole(path: Path) -> Iterator[None]:
    """Nothing gets through either way while the context lasts, and no end is told.

    The second namespace loses its address: what comes for it is dropped without an answer, and its
    own connections find no way out.
    """
    device, words = _device(path.b)
    _ip(path.b, "addr", "del", *words, "dev", device)
    try:
        yield
    finally:
        _ip(path.b, "addr", "add", *words, "dev", device)


def _each_way(option: str, value: str | tuple[str, str]) -> list[str]:
    if isinstance(value, str):
        return [f"--{option}", value]
    up, down = value
    return [f"--up-{option}", up, f"--down-{option}", down]


def _ip(namespace: Namespace, *words: str) -> str:
    return namespace.run("ip", *words).stdout


def _global_addresses(namespace: Namespace) -> list[tuple[str, dict[str, Any]]]:
    links = json.loads(_ip(namespace, "-json", "-4", "addr", "show", "scope", "global", "up"))
    return [(link["ifname"], info) for link in links if link for info in link["addr_info"]]


def _address(namespace: Namespace) -> str:
    found = _global_addresses(namespace)
    return str(found[-1][1]["local"]) if found else ""


def _has_more(namespace: Namespace, than: int) -> bool:
    return len(_global_addresses(namespace)) > than


def _device(namespace: Namespace) -> tuple[str, list[str]]:
    found = _global_addresses(namespace)
    if not found:
        raise TestbedError(f"{namespace.name} has no address to take away")
    device, info = found[0]
    words = [f"{info['local']}/{info['prefixlen']}"]
    if "address" in info:
        words = [info["local"], "peer", f"{info['address']}/{info['prefixlen']}"]
    return device, words
