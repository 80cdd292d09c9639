# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Programs: where they are, the project's own as built, others on PATH; netnice in the kernel of this machine."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path


class TestbedError(RuntimeError):
    """The testbed could not be set up or used; the message says why and what to do."""

    __test__ = False  # pytest collects classes named Test*


def require_root() -> None:
    """Namespaces, TUN devices and netnice's own set-up all need root."""
    if os.geteuid() != 0:
        raise TestbedError(
            "network namespaces can only be made by root; run it with sudo, "
            "or in a virtual machine or container where you are root"
        )


_ROOT = Path(__file__).resolve().parent.parent
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
PACKAGES = {
    "ss": "iproute2",
    "ip": "iproute2",
    "tc": "iproute2",
    "umount": "mount",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "sysctl": "procps",
    "cc": "gcc",
    "readelf": "gcc",
    "musl-gcc": "musl-tools",
    "sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
    "apt-get": "apt",
    "borg": "borgbackup",
    "aria2c": "aria2",
    "chromedriver": "chromium-driver",
    "ping": "iputils-ping",
    "transmission-create": "transmission-cli",
    "transmission-show": "transmission-cli",
}
"""Of programs that are not called like their package."""


def program(name: str) -> str:
    """The path of a program.

    The project's own programs come from ``$NETNICE_BIN``, else from ``target/release`` of this tree.
    """
    if name.startswith("netnice"):
        folder = Path(os.environ.get("NETNICE_BIN", _ROOT / "target" / "release"))
        if (folder / name).is_file():
            return str(folder / name)
        raise TestbedError(f"{name} is not in {folder}: run 'make build' first")
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_SBIN}")
    if found is None:
        package = PACKAGES.get(name, name)
        raise TestbedError(f"the program {name} is missing; on Debian: apt-get install {package}")
    return found


_NOT_UP = 3  # exit status of netnicectl status


@contextlib.contextmanager
def netnice_up(extra: Sequence[str] = ()) -> Iterator[None]:
    """Loads netnice, with ``extra`` algorithms of the laboratory; unloads what it loaded."""
    was_up = _netnicectl("status", check=False).returncode != _NOT_UP
    options = ["--with", ",".join(extra)] if extra else []
    _netnicectl("up", *options)
    try:
        yield
    finally:
        if not was_up:
            _netnicectl("down")
        elif extra:
            _netnicectl("up")


@contextlib.contextmanager
def parameters(algorithm: str, **values: int) -> Iterator[None]:
    """Sets parameters of a loaded algorithm while the context lasts. Not in 'show': off before."""
    before = json.loads(_netnicectl("show", "--json").stdout)[algorithm]
    try:
        _netnicectl("set", algorithm, *(f"{name}={value}" for name, value in values.items()))
        yield
    finally:
        _netnicectl("set", algorithm, *(f"{name}={before.get(name, 0)}" for name in values))


def _netnicectl(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    argv = [program("netnicectl"), *words]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise TestbedError(f"'netnicectl {' '.join(words)}' failed: {done.stderr.strip()}")
    return done
