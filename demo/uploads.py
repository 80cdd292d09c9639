# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Uploads in the background: rsync sends real, incompressible files that outlast the run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from demo.background import Background, ending, marking
from demo.conditions import Conditions, Scenario
from testbed import ByteCounter, Namespace, RsyncDaemon, program, random_file, scratch


def make_source(conditions: Conditions) -> Path:
    """A folder of files for all uploads to send."""
    folder = scratch("source")
    for number in range(conditions.files_per_upload):
        random_file(folder / f"file{number}", conditions.file_bytes)
    return folder


@contextlib.contextmanager
def uploading(
    source: Path, scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """Uploads while the context lasts, each to a folder of its own."""
    before = [program("netnice")] if scenario.kind == "netnice" else []
    env = marking() if scenario.kind == "marked" else {}
    count = 0 if scenario.kind == "none" else conditions.uploads
    with (
        RsyncDaemon(receiver) as store,
        ByteCounter(receiver, local_port=store.port, interval=conditions.sample_s) as received,
        ending(
            sender.spawn(
                *before, "rsync", "--recursive", "--whole-file", f"{source}/", store.url(f"upload{number}"), env=env
            )
            for number in range(count)
        ) as transfers,
    ):
        yield Background(transfers, received, {"peer_port": store.port}, {"netnice"} if before else {"cubic"})
