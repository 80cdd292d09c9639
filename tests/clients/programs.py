# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Clients that the harness lacks, each with its server: restic, rclone and git send, podman has six connections."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from system.harness.fetchers import Client
from system.harness.ssh import Sshd
from testbed import Namespace, PodmanStorage, Registry, program, random_file, random_image, scratch
from testbed.namespace import free_port, listens, wait_until
from testbed.servers import ALONE

#: What rclone copies, four at a time.
FILES = 8
#: Of the image; podman fetches six at a time.
LAYERS = 8


@contextlib.contextmanager
def restic(far: Namespace, size: int) -> Iterator[Client]:
    """A backup to a repository over HTTP."""
    home = {"HOME": str(scratch("restic")), "RESTIC_PASSWORD": "x"}
    with _rclone_serves(far, "restic") as port:
        far.run("restic", "--quiet", "--repo", f"rest:http://127.0.0.1:{port}/", "init", env=home)
        words = ["--quiet", "--repo", f"rest:http://{far.address}:{port}/", "backup", str(_files(size, 1))]
        yield Client([program("restic"), *words], port, {"RESTIC_PASSWORD": "x"})


@contextlib.contextmanager
def rclone(far: Namespace, size: int) -> Iterator[Client]:
    """A folder, to a server of WebDAV."""
    with _rclone_serves(far, "webdav") as port:
        where = [":webdav:", f"--webdav-url=http://{far.address}:{port}"]
        yield Client([program("rclone"), "--quiet", "copy", str(_files(size, FILES)), *where], port)


@contextlib.contextmanager
def _rclone_serves(far: Namespace, protocol: str) -> Iterator[int]:
    """An empty folder; gives its port."""
    port, store = free_port(far), scratch("store")
    words = ["--quiet", "serve", protocol, "--addr", f":{port}", str(store)]
    with far.spawn("rclone", *words, env={"HOME": str(store)}) as server:
        wait_until(lambda: listens(far, port), "rclone to listen", process=server)
        yield port


@contextlib.contextmanager
def git_push(far: Namespace, size: int) -> Iterator[Client]:
    """Over ssh, of what nothing can compress."""
    bare, here = scratch("bare"), _files(size, 1)
    config = [("user.name", "a"), ("user.email", "a@example.org"), ("core.compression", "0")]
    git = [program("git"), "-C", str(here), *(word for key, value in config for word in ("-c", f"{key}={value}"))]
    subprocess.run([program("git"), "init", "-q", "--bare", str(bare)], check=True, env=ALONE)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True, env=ALONE)
    with Sshd(far) as server:
        push = [*git, "push", "-q", f"ssh://root@{far.address}{bare}", "HEAD:main"]
        yield Client(push, server.port, {**ALONE, "GIT_SSH_COMMAND": server.command})


@contextlib.contextmanager
def podman(far: Namespace, size: int) -> Iterator[Client]:
    """An image's layers, without a daemon."""
    with Registry(far, scratch("registry")) as registry, PodmanStorage() as storage:
        registry.push(random_image(scratch("image"), LAYERS, size // LAYERS), "image")
        yield Client(storage.pull(registry.image("image").removeprefix("docker://")), registry.port, storage.env)


def _files(size: int, count: int) -> Path:
    """A folder of so many bytes in so many files."""
    folder = scratch("files")
    for number in range(count):
        random_file(folder / str(number), size // count)
    return folder
