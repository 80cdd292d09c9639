# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Programs that copy, by their names, and backups by the unit that a timer starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pytest

from system.harness.commands import Pair
from system.recipes import keys
from system.recipes.conftest import DATA, Boot, Rules, Yields

_PORT = 8000


@pytest.mark.parametrize("by", ["unit", "command"])
class TestBackups:
    """From a timer's unit, or by hand."""

    WORK: ClassVar = {"unit": "backups by restic or borg, from a timer", "command": "the same, by hand"}

    def test_restic(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields, by: str) -> None:
        rules(self.WORK[by], "restic")
        far = boot(cable.b)
        far.serve("rclone", "serve", "restic", "--addr", f":{_PORT}", "/srv/backup", port=_PORT)
        environment = {"RESTIC_PASSWORD": "x", "HOME": "/root", "RESTIC_REPOSITORY": f"rest:http://{cable.b4}:{_PORT}/"}
        job = ["/usr/bin/restic", "backup", DATA]
        home = boot(cable.a, {"etc/systemd/system/restic-home.service": _oneshot(environment, job)})
        home.command("restic", "init", env=environment)
        with yields(fetches=False):
            home.start("restic-home") if by == "unit" else home.command(*job, env=environment)

    def test_borg(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields, by: str) -> None:
        rules(self.WORK[by], "borg")
        far = boot(cable.b, keys.of_server())
        far.start("ssh")
        environment = {"HOME": "/root", "BORG_REPO": f"ssh://root@{cable.b4}/srv/backup", "BORG_RSH": keys.SSH}
        environment["BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK"] = "yes"
        job = ["/usr/bin/borg", "create", "::one", DATA]
        home = boot(cable.a, {"etc/systemd/system/borg-home.service": _oneshot(environment, job), **keys.of_client()})
        home.command("chmod", "600", keys.KEY)
        home.command("borg", "init", "--encryption=none", env=environment)
        with yields(fetches=False):
            home.start("borg-home") if by == "unit" else home.command(*job, env=environment)


class TestCopies:
    WORK = "rclone, rsync"

    def test_rclone(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
        """By both ends' rules: the server has its name."""
        rules(self.WORK, "rclone")
        boot(cable.b).serve("rclone", "serve", "webdav", "--addr", f":{_PORT}", "/srv/backup", port=_PORT)
        with yields():
            boot(cable.a).command("rclone", "copy", DATA, ":webdav:", f"--webdav-url=http://{cable.b4}:{_PORT}")

    def test_rsync_by_ssh(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
        rules(self.WORK, "rsync")
        boot(cable.b, keys.of_server()).start("ssh")
        home = boot(cable.a, keys.of_client())
        home.command("chmod", "600", keys.KEY)
        with yields(fetches=False):
            home.command("rsync", "-e", keys.SSH, DATA, f"root@{cable.b4}:/srv/copy")


def _oneshot(environment: Mapping[str, str], argv: list[str]) -> str:
    """A unit that a timer would start."""
    said = "".join(f'Environment="{name}={value}"\n' for name, value in environment.items())
    return f"[Service]\nType=oneshot\n{said}ExecStart={' '.join(argv)}\n"
