# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice-prefetch in a namespace, and a site for it: pages that lead in pairs from one to the next."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

from system.harness.browsers import Certificate
from system.harness.commands import call
from testbed import Namespace, program, scratch
from testbed.namespace import free_port, listens, wait_until
from testbed.ownership import Owned

#: Each pair has visitors of its own, so that a page is likely after its partner alone; so many make it known.
_VISITORS = 5
#: What the log of a site of files names is for every visitor.
_TRUSTING = "[prefetch]\ntrust_logs = true\n"
_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><title>{name}</title></head>
<body><h1>{name}</h1><p><a id="next" href="{next}">on</a></p><p style="overflow-wrap: anywhere">{text}</p></body></html>
"""


def first(pair: int) -> str:
    """The path of a pair's page that is asked for."""
    return f"/first{pair}.html"


def second(pair: int) -> str:
    """The path of the page that follows it."""
    return f"/second{pair}.html"


def write(folder: Path, pairs: int, size: int) -> None:
    """Files of some ``size`` bytes that nothing compresses much; their links have the id ``next``."""
    for pair in range(pairs):
        for path, onward, length in ((first(pair), second(pair), 4_000), (second(pair), first(pair), size)):
            text = os.urandom(length // 2).hex()
            (folder / path[1:]).write_text(_PAGE.format(name=path, next=onward, text=text))


def log(pairs: int) -> str:
    """An access log of visitors who went from each first page to the second."""
    line = '192.0.2.{} - - [30/Jan/2026:13:55:36 +0000] "GET {} HTTP/1.1" 200 9\n'
    return "".join(
        line.format(_VISITORS * pair + visitor, path(pair))
        for pair in range(pairs)
        for visitor in range(_VISITORS)
        for path in (first, second)
    )


class Proxy(Owned):
    """Passes on what is asked at ``url`` to a port of the same namespace, in a ``mode``; ``words`` are more options.

    It begins with what the access log ``taught`` teaches. With a ``certificate`` it is there over TLS alone.
    """

    def __init__(
        self,
        namespace: Namespace,
        port: int,
        mode: str,
        *words: str,
        taught: str = "",
        certificate: Certificate | None = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self._folder = scratch("proxy")
        self._parts.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._log = self._folder / "log"
        self._store = str(self._folder / "learned.redb")
        if taught:
            call("netnice-prefetch", "train", str(self._file("taught", taught)), "--store", self._store)
        settings = certificate.settings() if certificate else ""
        settings += _TRUSTING if taught else ""
        at = free_port(namespace)
        address = f"{namespace.address}:{at}"
        argv = [f"http://127.0.0.1:{port}", "--listen", address, "--admin", f"127.0.0.1:{at}"]
        argv += ["--config", str(self._file("config.toml", settings)), "--store", self._store]
        argv += ["--access-log", str(self._log), "--mode", mode, *words]
        self.url = f"{'https' if certificate else 'http'}://{address}"
        self._process = namespace.spawn(program("netnice-prefetch"), *argv)
        self._parts.push(self._process)
        with self._making():
            wait_until(lambda: listens(namespace, at), "the proxy", process=self._process)

    def _file(self, name: str, text: str) -> Path:
        file = self._folder / name
        file.write_text(text)
        return file

    def reload(self) -> None:
        """Has it read its configuration again."""
        self._process.signal(signal.SIGHUP)

    def requests(self) -> list[dict[str, Any]]:
        """Ends the proxy, and gives all that was asked of it."""
        self._process.end()
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def explain(self, url: str) -> dict[str, Any]:
        """What it has learned of a URL; once it has ended."""
        said: dict[str, Any] = json.loads(
            call("netnice-prefetch", "explain", url, "--json", "--store", self._store).stdout
        )
        return said
