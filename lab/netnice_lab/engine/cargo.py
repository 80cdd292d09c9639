# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The project's own Rust programs, for guests."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from netnice_lab import places, tool
from netnice_lab.errors import LabError


def compile_into(home: Path, programs: Sequence[str]) -> None:
    """Compile them with cargo; two builds at a time do not disturb each other."""
    if shutil.which("cargo") is None:
        raise LabError("no Rust", "cargo is not installed", "./setup --yes test")
    target = Path(os.environ.get("CARGO_TARGET_DIR") or places.cache().parent / "target")
    packages = [word for name in programs for word in ("-p", name)]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    tool.run(["make", "--silent", "ours"], places.CLONE, environment)
    tool.run(["cargo", "build", "--locked", "--release", *packages], places.CLONE, environment)
    home.mkdir(parents=True, exist_ok=True)
    for name in programs:
        aside = home / f"part-{os.getpid()}"
        shutil.copy(target / "release" / name, aside)
        aside.rename(home / name)
