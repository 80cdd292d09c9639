# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A Debian with systemd as its process 1, in a network namespace, on this machine's own kernel; and keys of ssh."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from testbed import Namespace, Process, ownership, program
from testbed.debian import debian
from testbed.namespace import listens, wait_until

#: systemd, and the programs of the recipes, each with its units as its package has them.
_INCLUDED = (
    *("systemd", "dbus", "ca-certificates", "curl", "iproute2", "busybox-static", "openssh-client", "openssh-server"),
    *("docker.io", "podman", "nix-setup-systemd", "snapd", "restic", "borgbackup", "rclone", "rsync"),
    "transmission-daemon",
)
#: Where the private one is kept.
KEY = "/srv/key"
#: The words that use it, for hosts without a known key.
SSH = f"ssh -i {KEY} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
_BOOT = Path(__file__).with_name("programs") / "boot.sh"
_NAMESPACES = ("--pid", "--fork", "--kill-child", "--mount", "--uts", "--ipc")
_ENTER = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd")
_ENVIRONMENT = {"LC_ALL": "C", "HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


class Machine(ownership.Owned):
    """Its files are a Debian's and ``files`` (path: text); its units are cgroups below ``cgroup``, which is empty."""

    def __init__(self, namespace: Namespace, cgroup: Path, files: Mapping[str, str]) -> None:
        super().__init__()
        self._namespace = namespace
        folder = ownership.scratch("machine")
        self._parts.callback(shutil.rmtree, folder, ignore_errors=True)
        for part in ("memory", "files"):
            (folder / part).mkdir()
        for name, text in files.items():
            file = folder / "files" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        boot = ["sh", str(_BOOT), str(debian(_INCLUDED, without=("doc", "locale", "i18n", "man")))]
        self._first = namespace.spawn("unshare", *_NAMESPACES, *boot, folder, cgroup, stderr=subprocess.DEVNULL)
        self._parts.push(self._first)
        self._parts.callback(self._kill)
        wait_until(self._booted, "systemd to boot", process=self._first, seconds=30)

    @property
    def root(self) -> Path:
        """Its files, as seen from outside."""
        return Path(f"/proc/{self._systemd()}/root")

    def words(self, *argv: str) -> list[str]:
        """The words that run a program in it; its process stays in the caller's cgroup."""
        return [program("nsenter"), "--target", str(self._systemd()), *_ENTER, "--", *argv]

    def serve(self, *argv: str, port: int) -> None:
        """Starts a server in it, which ends with it."""
        process = Process(self.words(*argv), env=_ENVIRONMENT)
        self._parts.push(process)
        wait_until(lambda: listens(self._namespace, port), f"{argv[0]} to listen", process=process, seconds=20)

    def command(self, *argv: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
        """Runs a program in it to its end; what it wrote."""
        done = subprocess.run(
            self.words(*argv),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**_ENVIRONMENT, **(env or {})},
        )
        assert not check or done.returncode == 0, f"{argv} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, unit: str) -> None:
        """Starts a unit; of one that ends by itself it waits for the end."""
        done = subprocess.run(self.words("systemctl", "start", unit), check=False, capture_output=True, timeout=60)
        assert done.returncode == 0, self.command("journalctl", "--no-pager", "--lines=40", "--unit", unit, check=False)

    def _kill(self) -> None:
        """With its first process all others of its namespace end."""
        with contextlib.suppress(OSError):
            os.kill(self._systemd(), signal.SIGKILL)

    def _systemd(self) -> int:
        """The one child of unshare, by its number outside."""
        children = Path(f"/proc/{self._first.pid}/task/{self._first.pid}/children").read_text().split()
        if not children:
            raise ProcessLookupError
        return int(children[0])

    def _booted(self) -> bool:
        try:
            name = Path(f"/proc/{self._systemd()}/comm").read_text()
        except OSError:
            return False
        words = ["systemctl", "is-active", "sockets.target"]
        return name == "systemd\n" and self.command(*words, check=False) == "active\n"


def of_client() -> dict[str, str]:
    """A machine's files. ssh wants the key to be its user's alone."""
    return {KEY[1:]: _made()[0]}


def of_server() -> dict[str, str]:
    """A machine's files."""
    return {"root/.ssh/authorized_keys": _made()[1]}


@functools.cache
def _made() -> tuple[str, str]:
    file = ownership.scratch("keys") / "key"
    subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
    return file.read_text(), file.with_suffix(".pub").read_text()
