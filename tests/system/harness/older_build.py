# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The programs of an older version, built from the project's history, once: they are kept in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from testbed import ownership, program

#: The last whose levels were called nice, nice1 and nice2, and that moved processes to cgroups of its own.
COMMIT = "3925ccd"
PROGRAMS = ("netnice", "netnicectl")
_TOP = Path(__file__).resolve().parents[3]
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netnice" / "older"


def built() -> dict[str, Path]:
    """By their names. Where the clone has no history there is nothing to build."""
    home = _CACHE / COMMIT
    if not all((home / name).exists() for name in PROGRAMS):
        archive = subprocess.run([program("git"), "archive", COMMIT], cwd=_TOP, capture_output=True, check=False)
        if archive.returncode != 0:
            pytest.skip(f"the history of this clone does not reach to {COMMIT}")
        tree = ownership.scratch("older-tree")
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
            files.extractall(tree, filter="data")
        fetched = subprocess.run(["cargo", "fetch", "--locked"], cwd=tree, capture_output=True, check=False)
        if fetched.returncode != 0:
            pytest.skip(f"the crates of {COMMIT} cannot be had: {fetched.stderr.decode()}")
        made = tree / "target"
        words = ["build", "--release", "--locked", *(word for name in PROGRAMS for word in ("-p", name))]
        environment = os.environ | {"CARGO_TARGET_DIR": str(made)}
        subprocess.run(["cargo", *words], cwd=tree, env=environment, check=True)
        home.mkdir(parents=True, exist_ok=True)
        for name in PROGRAMS:
            shutil.copy(made / "release" / name, home / f"{name}.new")
            (home / f"{name}.new").rename(home / name)
    return {name: home / name for name in PROGRAMS}
