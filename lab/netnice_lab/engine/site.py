# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The site in a guest: netnice-prefetch and netnice-replay as they ship."""

from dataclasses import dataclass
from pathlib import Path

from netnice_lab import places
from netnice_lab.engine import cargo

NAMES = ("netnice-prefetch", "netnice-replay")
SOURCES = ("apps/prefetch", "apps/prefetch-predictor", "apps/prefetch-replay", "crates/output", "crates/units")


@dataclass(frozen=True)
class Site:
    """Both programs, and a name for what decides their results."""

    key: str
    programs: tuple[Path, ...]


def sources() -> list[Path]:
    """Every file that can change them."""
    folders = [places.CLONE / folder for folder in SOURCES]
    return [f for f in places.sources(*folders) if not {"tests", "benches"} & set(f.parts)]


def build() -> Site:
    """Build them unless cached."""
    # by their sources, not their bytes: these also hold where cargo keeps its packages
    key = places.digest_tree([*sources(), places.CLONE / "Cargo.lock"])
    home = places.cache() / "sites" / key
    programs = tuple(home / name for name in NAMES)
    if not all(program.exists() for program in programs):
        cargo.compile_into(home, NAMES)
    return Site(key, programs)
