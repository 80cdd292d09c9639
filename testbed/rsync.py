# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""An rsync daemon that takes uploads, and has files to fetch."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from testbed import ownership
from testbed.namespace import Namespace, wait_until
from testbed.ports import free_port, listens
from testbed.programs import program

_CONFIGURATION = """\
pid file = {folder}/rsyncd.pid
lock file = {folder}/rsyncd.lock
log file = {folder}/rsyncd.log
port = {port}
use chroot = no
uid = 0
gid = 0

[in]
path = {folder}/in
read only = no
write only = yes
max connections = 0

[out]
path = {folder}/out
"""


class RsyncDaemon(ownership.Owned):
    """An rsync daemon on a free port of a namespace: module ``in`` takes uploads, ``out`` has what is in ``out``.

    ``under`` are words to run it with, as nginx's; ``limit`` are the bytes a second that it sends at most.
    """

    def __init__(self, namespace: Namespace, under: Sequence[str] = (), *, limit: int = 0) -> None:
        super().__init__()
        self.namespace = namespace
        self.folder = ownership.scratch("rsync")
        self._parts.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "out"
        for module in (self.folder / "in", self.out):
            module.mkdir()
        self.port = free_port(namespace)
        configuration = self.folder / "rsyncd.conf"
        configuration.write_text(_CONFIGURATION.format(folder=self.folder, port=self.port))
        words = ["--daemon", "--no-detach", f"--config={configuration}", *throttle(limit)]
        self.process = namespace.spawn(*under, program("rsync"), *words)
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "rsync to listen", process=self.process)

    def url(self, folder: str) -> str:
        """The address of a folder to upload to, made by the first upload."""
        return f"{self._root}/in/{folder}/"

    def source(self, name: str) -> str:
        """The address of a file of ``out``; the namespace must have its place on a path by now."""
        return f"{self._root}/out/{name}"

    @property
    def _root(self) -> str:
        return f"rsync://{self.namespace.address or '127.0.0.1'}:{self.port}"


def throttle(limit: int) -> list[str]:
    """The option of at most so many bytes a second, in whole KiB as the daemon wants it; 0: none."""
    return [f"--bwlimit={limit // 1024}"] if limit else []
