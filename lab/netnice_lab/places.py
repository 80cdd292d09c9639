# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Where things are: the lab's sources, the clone, the cache outside the tree."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
CLONE = LAB.parent
CORES = CLONE / "algorithms"
SHIMS = CLONE / "transport"
EXPERIMENTS = LAB / "experiments"
RECORDED = LAB / "recorded"
GUEST_SOURCES = LAB / "guest"
KERNEL_SOURCES = LAB / "kernel"


def cache() -> Path:
    """The lab's cache directory; made on first use."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    path = Path(base) / "netnice" / "lab"
    path.mkdir(parents=True, exist_ok=True)
    return path


def digest(*parts: str | bytes) -> str:
    """A short name for content: the same parts give the same name."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:16]


def sources(*tops: Path) -> list[Path]:
    """Every file under some directories of the clone, without what a build has left there."""
    written = (".c", ".cc", ".h", ".rs", ".toml", "")
    return sorted(f for top in tops for f in top.rglob("*") if f.is_file() and f.suffix in written and f.name[0] != ".")


def digest_files(files: Iterable[Path], *parts: str) -> str:
    """A short name for the content of files, whatever directory they are in."""
    contents: list[str | bytes] = list(parts)
    for file in sorted(files, key=lambda f: f.name):
        contents += [file.name, file.read_bytes()]
    return digest(*contents)


def digest_tree(files: Iterable[Path], *parts: str) -> str:
    """A short name for files of the clone and where in it they are."""
    contents: list[str | bytes] = list(parts)
    for file in sorted(files):
        contents += [str(file.relative_to(CLONE)), file.read_bytes()]
    return digest(*contents)
