# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A private swarm: a torrent, the tracker that knows it, and clients that share it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed import ownership
from testbed.namespace import Namespace, free_port, listens, wait_until
from testbed.programs import TestbedError, program

#: No other way to find a peer than the tracker, no limit, and no peer is kept waiting to be let in.
_SETTINGS = {
    "blocklist-enabled": False,
    "dht-enabled": False,
    "encryption": 0,
    "incomplete-dir-enabled": False,
    "lpd-enabled": False,
    "message-level": 1,
    "peer-port-random-on-start": False,
    "pex-enabled": False,
    "port-forwarding-enabled": False,
    "rpc-bind-address": "127.0.0.1",
    "rpc-enabled": True,
    "rpc-whitelist-enabled": False,
    "scrape-paused-torrents-enabled": False,
    "upload-slots-per-torrent": 64,
}


@dataclass(frozen=True)
class Torrent:
    """One file, its description, and the hash that names it."""

    data: Path
    file: Path
    hash: str


class Tracker(ownership.Owned):
    """An opentracker on a free port of a namespace; it knows one torrent."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__()
        self._namespace = namespace
        self._folder = ownership.scratch("tracker")
        self._parts.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self.port = free_port(namespace)

    def announce(self, data: Path) -> Torrent:
        """Describes the file in a torrent of this tracker, and begins to serve the peers that ask for it."""
        file = self._folder / "torrent"
        url = f"http://{self._namespace.address}:{self.port}/announce"
        self._namespace.run("transmission-create", "--private", "--tracker", url, "--outfile", file, data)
        shown = self._namespace.run("transmission-show", file).stdout
        name = next(line.split()[1] for line in shown.splitlines() if line.strip().startswith("Hash:"))
        known = self._folder / "known"
        known.write_text(f"{name}\n")
        # It can only be jailed in a folder that the user it becomes may read.
        self._folder.chmod(0o755)
        port = str(self.port)
        words = ["-i", "0.0.0.0", "-p", port, "-P", port, "-d", str(self._folder), "-w", "/known"]
        process = self._namespace.spawn("opentracker", *words)
        self._parts.push(process)
        wait_until(lambda: listens(self._namespace, self.port), "the tracker to listen", process=process)
        return Torrent(data, file, name)


class Transmission(ownership.Owned):
    """A transmission-daemon on one address of a namespace, with one torrent: whole if ``seeds``, else to be fetched.

    ``utp`` carries the data over UDP, as it does by itself; else over TCP. ``tos`` marks its packets;
    ``under`` are words to run it with, ``("netnice",)`` say.
    """

    #: Where clients wait for others.
    PEERS = 51413

    def __init__(
        self,
        namespace: Namespace,
        address: str,
        torrent: Torrent,
        *,
        seeds: bool = False,
        utp: bool = False,
        tos: str = "default",
        under: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._namespace = namespace
        self._torrent = torrent
        self._folder = ownership.scratch("transmission")
        self._parts.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self.port = free_port(namespace)
        self._url = f"http://127.0.0.1:{self.port}/transmission/rpc"
        self._session = ""
        settings = {
            **_SETTINGS,
            "bind-address-ipv4": address,
            "peer-port": self.PEERS,
            "download-dir": str(torrent.data.parent if seeds else self._folder),
            "peer-socket-tos": tos,
            "rpc-port": self.port,
            "utp-enabled": utp,
        }
        (self._folder / "settings.json").write_text(json.dumps(settings))
        self.process = namespace.spawn(
            *under, program("transmission-daemon"), "--foreground", "--config-dir", self._folder
        )
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "transmission to listen", process=self.process)
        self._ask("torrent-add", filename=str(torrent.file))
        if seeds:
            wait_until(lambda: self.now("leftUntilDone") == 0, "transmission to check the file", seconds=30)

    def now(self, field: str) -> int:
        """A number of the torrent, by its name in transmission's RPC: ``uploadedEver`` are the bytes it has sent."""
        (torrent,) = self._ask("torrent-get", ids=[self._torrent.hash], fields=[field])["torrents"]
        return int(torrent[field])

    def _ask(self, method: str, **arguments: Any) -> dict[str, Any]:
        """A call of its RPC, which refuses the first with the session's id and answers a client that repeats it."""
        body = json.dumps({"method": method, "arguments": arguments})
        for _ in range(2):
            words = ["--silent", "--include", "--header", f"X-Transmission-Session-Id: {self._session}"]
            said = self._namespace.run("curl", *words, "--data", body, self._url).stdout
            head, _, answer = said.partition("\n\n")
            status, *headers = head.splitlines()
            if " 409 " in status:
                lines = (line.partition(":") for line in headers)
                self._session = next(v.strip() for k, _, v in lines if k.lower() == "x-transmission-session-id")
                continue
            result = json.loads(answer)
            if result["result"] != "success":
                break
            return dict(result["arguments"])
        raise TestbedError(f"transmission refused {method}: {said.strip()}")
