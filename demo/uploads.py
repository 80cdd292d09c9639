# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The background: rsync uploads of real, incompressible files that outlast the run."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from demo.conditions import Conditions, Uploads
from testbed import Namespace, Process, RsyncDaemon, TestbedError, program, random_file, scratch


def make_source(conditions: Conditions) -> Path:
    """A folder of files for all uploads to send."""
    folder = scratch("source")
    for number in range(conditions.files_per_upload):
        random_file(folder / f"file{number}", conditions.file_bytes)
    return folder


def build_marker() -> Path:
    """Compiles mark-le.c for the uploads of the priority scenario."""
    library = scratch("marker") / "mark-le.so"
    source = Path(__file__).with_name("mark-le.c")
    argv = [program("cc"), "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    done = subprocess.run([*argv, "-o", str(library), str(source), "-ldl"], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise TestbedError(f"cc could not compile {source.name}: {done.stderr}")
    return library


@contextlib.contextmanager
def uploading(
    kind: Uploads, count: int, sender: Namespace, store: RsyncDaemon, source: Path
) -> Iterator[list[Process]]:
    """``count`` uploads while the context lasts, each to a folder of its own."""
    before: list[str] = []
    env: dict[str, str] = {}
    if kind == "none":
        count = 0
    elif kind == "netnice":
        before = [program("netnice")]
    elif kind == "marked":
        env = {"LD_PRELOAD": str(build_marker())}
    with contextlib.ExitStack() as stack:
        uploads = [
            stack.enter_context(
                sender.spawn(
                    *before,
                    *("rsync", "--recursive", "--whole-file", f"{source}/", store.url(f"upload{number}")),
                    env=env,
                )
            )
            for number in range(count)
        ]
        try:
            yield uploads
        finally:
            for upload in uploads:  # all at once: each takes half a second to tidy up
                upload.signal(signal.SIGTERM)


def check_alive(uploads: list[Process]) -> None:
    """An upload that ended would make the background smaller than it says."""
    for upload in uploads:
        if not upload.running():
            _, err = upload.end()
            raise TestbedError(f"an upload ended with {upload.returncode} before its time: {err.strip()}")
