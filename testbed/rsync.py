# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""An rsync daemon that takes uploads."""

from __future__ import annotations

import shutil

from testbed import ownership
from testbed.namespace import Namespace, wait_until
from testbed.ports import free_port, listens

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
"""


class RsyncDaemon(ownership.Owned):
    """An rsync daemon with one module, ``in``, writable, on a free port of a namespace."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__()
        self.namespace = namespace
        self.folder = ownership.scratch("rsync")
        self._parts.callback(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "in").mkdir()
        self.port = free_port(namespace)
        configuration = self.folder / "rsyncd.conf"
        configuration.write_text(_CONFIGURATION.format(folder=self.folder, port=self.port))
        self.process = namespace.spawn("rsync", "--daemon", "--no-detach", f"--config={configuration}")
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "rsync to listen", process=self.process)

    def url(self, folder: str) -> str:
        """The address of a folder to upload to, made by the first upload."""
        return f"rsync://{self.namespace.address or '127.0.0.1'}:{self.port}/in/{folder}/"
