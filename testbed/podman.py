# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Podman's daemon, which pulls what its clients ask for."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from testbed import ownership
from testbed.namespace import Namespace, wait_until
from testbed.programs import program

_CONFIGURATION = """\
[engine]
lock_type = "file"
events_logger = "none"
cgroup_manager = "cgroupfs"
"""
_MOUNTS = Path("/proc/self/mountinfo")


class Podman(ownership.Owned):
    """``podman system service`` in a namespace, with a storage of its own that goes with it."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__()
        self.namespace = namespace
        self.folder = ownership.scratch("podman")
        self._parts.callback(self._remove)
        configuration = self.folder / "containers.conf"
        configuration.write_text(_CONFIGURATION)
        socket = self.folder / "socket"
        self.url = f"unix://{socket}"
        self.process = namespace.spawn(
            *("podman", "--storage-driver", "vfs", "--root", f"{self.folder}/root", "--runroot", f"{self.folder}/run"),
            *("--tmpdir", f"{self.folder}/tmp", "system", "service", "--time", "0", self.url),
            env={"CONTAINERS_CONF": str(configuration), "TMPDIR": str(self.folder)},
        )
        self._parts.push(self.process)
        wait_until(socket.exists, "podman to listen", process=self.process)

    def pull(self, image: str) -> list[str]:
        """The words of a client that has it pull an image."""
        return [program("podman"), "--url", self.url, "pull", "--quiet", "--tls-verify=false", image]

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            for mount in _mounts(str(self.folder)):
                self.namespace.run("umount", "--lazy", mount, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def _mounts(below: str) -> list[str]:
    """Mounts below a folder, the innermost first."""
    points = [line.split()[4] for line in _MOUNTS.read_text().splitlines()]
    return [point for point in reversed(points) if point.startswith(below + "/")]
