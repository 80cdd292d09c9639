# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Cgroups as a service manager makes them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from system.harness import kernel
from testbed import program
from testbed.namespace import wait_until

_JOIN = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


@contextlib.contextmanager
def made(*below: str) -> Iterator[Path]:
    """A slice of this test's with these below each other in it, gone afterwards with what is below the last."""
    top = kernel.cgroup_root() / f"netnice-test-{os.getpid()}.slice"
    folder = top.joinpath(*below)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        for cgroup in [*sorted(top.rglob("*/"), reverse=True), top]:
            if cgroup.is_dir():
                _until_empty(cgroup)
                cgroup.rmdir()


def inside(cgroup: Path, *argv: str) -> list[str]:
    """The words that run a program in it."""
    return [program("sh"), "-c", _JOIN, str(cgroup), *argv]


def _until_empty(cgroup: Path) -> None:
    """Of processes that are ending, too, which cgroup.procs no longer shows."""
    wait_until(lambda: "populated 0" in (cgroup / "cgroup.events").read_text(), f"{cgroup} to be empty")
