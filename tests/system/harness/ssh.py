# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""An ssh server of the tests' own."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Self

from testbed import Namespace, ownership, program
from testbed.namespace import free_port, listens, wait_until


class Sshd:
    """An ssh server in a namespace that lets root in with one key."""

    def __init__(self, namespace: Namespace) -> None:
        self.folder = ownership.scratch("ssh")
        self.port = free_port(namespace)
        for name in ("host", "user"):
            subprocess.run([program("ssh-keygen"), "-qN", "", "-t", "ed25519", "-f", self.folder / name], check=True)
        Path("/run/sshd").mkdir(exist_ok=True)  # where it drops its rights
        options = {
            "Port": self.port,
            "HostKey": self.folder / "host",
            "AuthorizedKeysFile": self.folder / "user.pub",
            "PidFile": "none",
            "StrictModes": "no",
            "UsePAM": "no",
            "PermitRootLogin": "prohibit-password",
            "SetEnv": f"HOME={self.folder}",  # not what the machine's root begins a shell with
        }
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        self.process = namespace.spawn("sshd", "-D", "-e", "-f", "/dev/null", *words)
        wait_until(lambda: listens(namespace, self.port), "sshd to listen", process=self.process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.process.end()

    @property
    def command(self) -> str:
        """What rsync and git call to get there."""
        known = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        return f"ssh -F /dev/null -p {self.port} -i {self.folder}/user -o IdentitiesOnly=yes {known}"
