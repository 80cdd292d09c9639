# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A small Debian to install packages on, as when an image is built: its packages are its own, the kernel is not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from testbed import Process, ownership, program
from testbed.debian import debian
from testbed.namespace import wait_until

PROGRAMS = Path(__file__).with_name("programs")
#: Beside what every Debian has: what reads a unit and a manual page, and somebody to be nice.
_INCLUDED = ("systemd", "man-db", "curl")
_ENTER = ("--mount", "--uts", "--ipc", "--net", "--root", "--wd")
#: What an installation of netnice would fetch is fetched with it, so that the tests need no network.
_FETCHED = ("libelf1", "zlib1g", "libgcc-s1")


class Chroot(ownership.Owned):
    """Its files on a disk of their own, and a process that holds its namespaces."""

    def __init__(self) -> None:
        super().__init__()
        holder = ["sleep", "infinity"]
        words = [program("unshare"), "--mount", "--uts", "--ipc", "--net"]
        made = ["sh", str(PROGRAMS / "chroot.sh"), str(debian(_INCLUDED, _FETCHED)), str(ownership.scratch("chroot"))]
        process = self._parts.enter_context(Process([*words, *made, *holder], stderr=subprocess.DEVNULL))
        self._pid = process.pid
        comm = Path(f"/proc/{self._pid}/comm")
        wait_until(lambda: comm.read_text() == "sleep\n", "the chroot", process=process)

    @property
    def root(self) -> Path:
        """Its files, as seen from outside."""
        return Path(f"/proc/{self._pid}/root")

    def run(self, *argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program in it."""
        done = subprocess.run(
            [program("nsenter"), "--target", str(self._pid), *_ENTER, "--", *argv],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
        )
        assert not check or done.returncode == 0, f"{argv} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done

    def install(self, package: Path) -> str:
        """As a user does: apt install ./netnice.deb."""
        shutil.copy(package, self.root / "tmp")
        return self.run("apt-get", "-q", "-y", "install", f"/tmp/{package.name}").stdout
