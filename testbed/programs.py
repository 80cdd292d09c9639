# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Where programs are: the project's own as built, others on PATH."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from testbed.errors import TestbedError

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
