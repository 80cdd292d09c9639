# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Real programs that download, each with its server: the server is in the namespace, the program starts in another.

Zeros serve where nothing compresses; this machine's own settings are left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from testbed import GitDaemon, Namespace, Nginx, Process, TestbedError, program, scratch

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
set -- -qq -o APT::Architecture=amd64 -o APT::Sandbox::User=root -o Acquire::http::Proxy=DIRECT \\
    -o Dir::State="$PWD" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD" \\
    -o Dir::Etc::SourceList="$PWD/sources" -o Dir::Etc::SourceParts=- -o Dir::Etc::Parts=-
"$apt" "$@" update
exec "$apt" "$@" download big
"""


@dataclass(frozen=True)
class Client:
    """A program and the port of the server that it transfers from or to."""

    argv: list[str]
    port: int
    env: Mapping[str, str] = field(default_factory=dict)

    def start(self, home: Namespace, *words: str, **options: Any) -> Process:
        """Begins in an empty folder that is also its HOME; ``words`` run it, ``options`` are a Process's."""
        folder = scratch("fetched")
        env = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "no_proxy": "*", **self.env}
        return home.spawn(*words, *self.argv, cwd=folder, env=env, **options)


@contextlib.contextmanager
def curl(www: Namespace, size: int) -> Iterator[Client]:
    """The file itself, to nowhere."""
    with Nginx(www, {"big": size}) as web:
        yield Client([program("curl"), "-so", "/dev/null", web.url("big")], web.port)


@contextlib.contextmanager
def apt(www: Namespace, size: int) -> Iterator[Client]:
    """A package from a mirror of one package, after the update that finds it."""
    with Nginx(www, {"big.deb": size}) as web:
        digest = hashlib.sha256(bytes(size)).hexdigest()
        (web.folder / "www/Packages").write_text(_PACKAGES.format(size=size, digest=digest))
        yield Client([program("sh"), "-c", _APT, "sh", web.url(""), program("apt-get")], web.port)


@contextlib.contextmanager
def pip(www: Namespace, size: int) -> Iterator[Client]:
    """A wheel from an index of one project; pip is that of the Python that runs this."""
    if importlib.util.find_spec("pip") is None:
        raise TestbedError(f"{sys.executable} has no pip; './setup verify' brings it")
    wheel = "big-1-py3-none-any.whl"
    with Nginx(www, {}) as web:
        with zipfile.ZipFile(web.folder / "www" / wheel, "w") as made:
            made.writestr("big", bytes(size))
            made.writestr("big-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: big\nVersion: 1\n")
            made.writestr("big-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        index = web.folder / "www/simple/big"
        index.mkdir(parents=True)
        (index / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="/{wheel}">{wheel}</a></body></html>\n')
        options = ["--isolated", "--no-cache-dir", "--disable-pip-version-check", "--no-deps", "--quiet"]
        where = ["--trusted-host", www.address, "--index-url", web.url("simple/")]
        yield Client([sys.executable, "-m", "pip", "download", *options, *where, "big"], web.port)


@contextlib.contextmanager
def git(www: Namespace, size: int) -> Iterator[Client]:
    """A repository that nothing can compress."""
    with GitDaemon(www, size) as daemon:
        yield Client([program("git"), "clone", "--quiet", "--bare", daemon.url(), "clone"], daemon.port)


@contextlib.contextmanager
def netsurf(www: Namespace, size: int) -> Iterator[Client]:
    """A picture as large as that, in a browser without a screen: a JPEG is not looked at before it is all there."""
    with Nginx(www, {"big.jpg": size}) as web:
        yield Client([program("netsurf-fb"), "-f", "ram", web.url("big.jpg")], web.port)
