# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A git daemon with one repository to clone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from testbed import ownership
from testbed.files import random_file
from testbed.namespace import Namespace, wait_until
from testbed.ports import free_port, listens
from testbed.programs import program

#: Nobody's settings count, neither this machine's nor its user's.
ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
_AUTHOR = "a <a@example.org> 1700000000 +0000"


class GitDaemon(ownership.Owned):
    """Serves a repository of one commit, one file of ``size`` bytes that nothing can compress, on a free port."""

    def __init__(self, namespace: Namespace, size: int) -> None:
        super().__init__()
        self.namespace = namespace
        self.folder = ownership.scratch("git")
        self._parts.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._make(size)
        self.port = free_port(namespace)
        words = ["--reuseaddr", "--export-all", f"--base-path={self.folder}", f"--port={self.port}", str(self.folder)]
        self.process = namespace.spawn("git", "daemon", *words, env=ALONE)
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "git to listen", process=self.process)

    def url(self) -> str:
        """The address to clone from; the namespace must have its place on a path by now."""
        return f"git://{self.namespace.address or '127.0.0.1'}:{self.port}/repository.git"

    def _make(self, size: int) -> None:
        random_file(self.folder / "file", size)
        self._git(["init", "--quiet", "--bare"])
        self._git(["config", "core.compression", "0"])  # it would take long, and find nothing
        blob = self._git(["hash-object", "-w", str(self.folder / "file")])
        tree = self._git(["mktree"], f"100644 blob {blob}\tfile\n")
        commit = self._git(
            ["hash-object", "-w", "-t", "commit", "--stdin"],
            f"tree {tree}\nauthor {_AUTHOR}\ncommitter {_AUTHOR}\n\none\n",
        )
        self._git(["update-ref", "HEAD", commit])
        self._git(["repack", "--quiet", "-ad"])  # or each clone would wait for it

    def _git(self, words: Sequence[str], text: str = "") -> str:
        argv = [program("git"), "--git-dir", str(self.folder / "repository.git"), *words]
        done = subprocess.run(argv, input=text, env=ALONE, check=True, capture_output=True, text=True)
        return done.stdout.strip()
