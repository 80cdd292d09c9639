# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Real programs that download, each with a server of the kind it wants; neither touches this machine's own settings.

What they fetch lasts longer than any run, so nothing is ever unpacked and zeros serve where nobody compresses.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from testbed import GitDaemon, Namespace, Nginx, Process, program, scratch

#: Bytes: at 10 Mbit/s half a minute.
SIZE = 40 << 20

_PACKAGES = """\
Package: big
Version: 1
Architecture: all
Maintainer: a <a@example.org>
Description: zeros
Filename: ./big.deb
Size: {size}
SHA256: {digest}
"""

_APT = """\
set -e
apt=$2
mkdir -p lists/partial archives/partial
touch status
echo "deb [trusted=yes allow-insecure=yes] $1 ./" >sources
set -- -qq -o APT::Architecture=amd64 -o APT::Sandbox::User=root -o Acquire::http::Proxy=DIRECT \
    -o Dir::State="$PWD" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD" \
    -o Dir::Etc::SourceList="$PWD/sources" -o Dir::Etc::SourceParts=- -o Dir::Etc::Parts=-
"$apt" "$@" update
exec "$apt" "$@" download big
"""


@dataclass(frozen=True)
class Fetcher:
    """A program and the port of the server that it downloads from."""

    argv: list[str]
    port: int

    def start(self, home: Namespace, *words: str) -> Process:
        """Begins in an empty folder that is also its HOME; ``words`` run it."""
        folder = scratch("fetched")
        env = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "no_proxy": "*"}
        return home.spawn(*words, *self.argv, cwd=folder, env=env)


@contextlib.contextmanager
def curl(www: Namespace) -> Iterator[Fetcher]:
    """The file itself, to nowhere."""
    with Nginx(www, {"big": SIZE}) as web:
        yield Fetcher([program("curl"), "-so", "/dev/null", web.url("big")], web.port)


@contextlib.contextmanager
def apt(www: Namespace) -> Iterator[Fetcher]:
    """A package from a mirror of one package, after the update that finds it."""
    with Nginx(www, {"big.deb": SIZE}) as web:
        (web.folder / "www/Packages").write_text(_PACKAGES.format(size=SIZE, digest="0" * 64))
        yield Fetcher([program("sh"), "-c", _APT, "sh", web.url(""), program("apt-get")], web.port)


@contextlib.contextmanager
def pip(www: Namespace) -> Iterator[Fetcher]:
    """A wheel from an index of one project; pip is that of the Python that runs this."""
    wheel = "big-1-py3-none-any.whl"
    with Nginx(www, {wheel: SIZE}) as web:
        index = web.folder / "www/simple/big"
        index.mkdir(parents=True)
        (index / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="/{wheel}">{wheel}</a></body></html>\n')
        options = ["--isolated", "--no-cache-dir", "--disable-pip-version-check", "--no-deps", "--quiet"]
        where = ["--trusted-host", www.address, "--index-url", web.url("simple/")]
        yield Fetcher([sys.executable, "-m", "pip", "download", *options, *where, "big"], web.port)


@contextlib.contextmanager
def git(www: Namespace) -> Iterator[Fetcher]:
    """A repository that nothing can compress."""
    with GitDaemon(www, SIZE) as daemon:
        yield Fetcher([program("git"), "clone", "--quiet", "--bare", daemon.url(), "clone"], daemon.port)


@contextlib.contextmanager
def netsurf(www: Namespace) -> Iterator[Fetcher]:
    """A picture as large as that, in a browser without a screen: a JPEG is not looked at before it is all there."""
    with Nginx(www, {"big.jpg": SIZE}) as web:
        yield Fetcher([program("netsurf-fb"), "-f", "ram", web.url("big.jpg")], web.port)


FETCHERS: dict[str, Callable[[Namespace], AbstractContextManager[Fetcher]]] = {
    "curl": curl,
    "apt": apt,
    "pip": pip,
    "git": git,
    "netsurf": netsurf,
}
#: 306 MB with what it needs, so setup does not bring it. Where it is installed it is tested, too.
CHROMIUM = shutil.which("chromium-headless-shell")


@contextlib.contextmanager
def chromium(www: Namespace) -> Iterator[Fetcher]:
    """What the script of a page fetches."""
    read = "const s = r.body.getReader(); while (!(await s.read()).done);"
    with Nginx(www, {"big": SIZE}) as web:
        (web.folder / "www/page.html").write_text(f'<script>fetch("big").then(async r => {{ {read} }})</script>\n')
        options = ["--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir=profile"]
        yield Fetcher([str(CHROMIUM), *options, web.url("page.html")], web.port)


if CHROMIUM:
    FETCHERS["chromium"] = chromium
