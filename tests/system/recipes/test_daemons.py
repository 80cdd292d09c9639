# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Daemons that fetch for others, as their packages' units: apt's, nix's, snapd, transmission."""

from __future__ import annotations

import json
import os
import shutil

from system.harness.commands import Pair
from system.recipes.conftest import DATA, SIZE, Boot, Rules, Yields
from testbed import Nginx, Tracker, Transmission, random_file, scratch
from testbed.namespace import wait_until

#: No way to find a peer but the tracker, and TCP for all of it.
_CLIENT = {
    "dht-enabled": False,
    "download-dir": "/srv/torrent",
    "lpd-enabled": False,
    "pex-enabled": False,
    "port-forwarding-enabled": False,
    "rename-partial-files": True,
    "rpc-enabled": False,
    "utp-enabled": False,
    "watch-dir": "/srv/watch",
    "watch-dir-enabled": True,
}
_DAILY = 'APT::Periodic::Update-Package-Lists "1";\nAcquire::http::Proxy "DIRECT";\n'
_NIX = "substituters = {}\nrequire-sigs = false\nsandbox = false\nbuild-users-group =\n"


def test_debians_daily(cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
    rules("Debian's and Ubuntu's daily downloads")
    with Nginx(cable.b, {}) as web:
        (web.folder / "www/Packages").write_text(_described(SIZE))
        source = f"deb [trusted=yes allow-insecure=yes] {web.url('')} ./\n"
        home = boot(cable.a, {"etc/apt/sources.list": source, "etc/apt/apt.conf.d/99daily": _DAILY})
        with yields(sends=False):
            home.start("apt-daily")


def test_nix(cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
    """The daemon fetches for who asks it."""
    rules("nix's downloads")
    with Nginx(cable.b, {}) as web:
        home = boot(cable.a, {"etc/nix/nix.conf": _NIX.format(web.url(""))})
        (path,) = home.command("nix-store", "--add", DATA).split()
        nix = ["nix", "--extra-experimental-features", "nix-command"]
        home.command(*nix, "copy", "--to", "file:///tmp/cache?compression=none", path)
        home.command("nix-store", "--delete", path)
        shutil.copytree(home.root / "tmp/cache", web.folder / "www", dirs_exist_ok=True)
        home.start("nix-daemon")
        with yields():
            home.command("nix-store", "--realise", path, env={"NIX_REMOTE": "daemon"})


def test_snaps(cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
    """What the daemon fetches of the store."""
    rules("snaps")
    with Nginx(cable.b, {}, kind="application/json") as web:
        answer = web.folder / "www/v2/snaps/find"
        answer.parent.mkdir(parents=True)
        answer.write_text(json.dumps({"results": [], "more": "." * SIZE}))
        store = f"[Service]\nEnvironment=SNAPPY_FORCE_API_URL={web.url('')}\n"
        home = boot(cable.a, {"etc/systemd/system/snapd.service.d/store.conf": store})
        with yields(sends=False):
            home.command("snap", "find", "anything", check=False)


def test_torrents(cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
    """What the daemon of the package fetches of another's."""
    rules("torrents")
    shared = scratch("shared") / "shared"
    random_file(shared, SIZE)
    with Tracker(cable.b) as tracker:
        torrent = tracker.announce(shared)
        with Transmission(cable.b, cable.b4, torrent, seeds=True):
            home = boot(cable.a, {"etc/transmission-daemon/settings.json": json.dumps(_CLIENT)})
            home.command("install", "--directory", "--mode=777", "/srv/torrent", "/srv/watch")
            (home.root / "srv/watch/shared.torrent").write_bytes(torrent.file.read_bytes())
            with yields():
                home.start("transmission-daemon")
                wait_until((home.root / "srv/torrent/shared").exists, "it to be fetched", seconds=60)


def _described(size: int) -> str:
    """An index of one package, which is described at length."""
    fields = ["Package: big", "Version: 1", "Architecture: all", "Maintainer: a <a@example.org>", "Description: long"]
    line = f" {os.urandom(30).hex()}\n"
    return "\n".join([*fields, line * (size // len(line))])
