# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""make build in small clones with a stand-in for cargo: nothing is compiled."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LONG_AGO = 1_000_000_000.0
CARGO = """#!/bin/sh
mkdir -p "$CARGO_TARGET_DIR/release"
for b in netnice netnicectl netnice-path netnice-measure netnice-prefetch netnice-replay netnice-fetch \\
	netnice-manual; do
	echo built >"$CARGO_TARGET_DIR/release/$b"
done
"""


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """A source file in each of two clones that share a cache, both older than any build."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/cargo").write_text(CARGO)
    (tmp_path / "bin/cargo").chmod(0o755)
    found = []
    for clone in (tmp_path / "one", tmp_path / "other"):
        for room in ("apps", "bindings", "crates", "algorithms", "transport"):
            (clone / room).mkdir(parents=True)
        shutil.copy(TOP / "Makefile", clone)
        (clone / "packaging").mkdir()
        (clone / "packaging/licences.py").symlink_to(shutil.which("true") or "")
        found.append(clone / "algorithms/core.h")
        found[-1].write_text("")
        os.utime(found[-1], (LONG_AGO, LONG_AGO))
    return found


def build(source: Path) -> None:
    """Builds the clone that the source is of."""
    home = source.parents[2]
    path = f"{home}/bin:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    subprocess.run(["make", "-s", "-C", source.parents[1], "build"], env=environment, check=True, timeout=60)


def test_what_another_clone_compiled_is_not_taken_for_ours(sources: list[Path]) -> None:
    for source in sources:
        build(source)
        assert source.stat().st_mtime > LONG_AGO, "cargo would call it compiled"


def test_a_second_build_of_the_same_clone_compiles_nothing_anew(sources: list[Path]) -> None:
    build(sources[0])
    os.utime(sources[0], (LONG_AGO, LONG_AGO))
    build(sources[0])
    assert sources[0].stat().st_mtime == LONG_AGO
