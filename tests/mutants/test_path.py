# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Deliberately broken links: the path emulator's own unit tests must fail for each.

The link is pure code, so a crate of it alone is compiled for each mutant, with its tests and nothing else of netnice.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from mutants.suite import verdict
from netnice_lab.engine.mutants import Mutant

TOP = Path(__file__).resolve().parents[2]
LINK, BUFFER = "src/link/mod.rs", "src/link/buffer.rs"
MUTANTS = [
    Mutant(
        "rate-too-high",
        "a byte has seven bits",
        LINK,
        "u128::from(bytes) * 8_000_000_000",
        "u128::from(bytes) * 7_000_000_000",
    ),
    Mutant(
        "rate-drifts",
        "what a service time was rounded down by is lost",
        LINK,
        "+ u128::from(self.carry)",
        "+ 0",
    ),
    Mutant(
        "no-delay",
        "a packet is handed over as soon as it is served",
        LINK,
        "due: departure + self.spec.delay",
        "due: departure",
    ),
    Mutant(
        "idle-while-late",
        "service starts when somebody looks, not when it is due",
        LINK,
        "self.serve_next(departure);",
        "self.serve_next(now);",
    ),
    Mutant(
        "head-drop",
        "lower effort makes room from the head of its queue",
        BUFFER,
        "self.bands[1].pop_back()",
        "self.bands[1].pop_front()",
    ),
    Mutant(
        "one-too-many",
        "the packet in service has no part in the limit",
        BUFFER,
        "occupied.packets < most",
        "occupied.packets <= most",
    ),
    Mutant(
        "no-priority",
        "lower effort waits with the rest",
        BUFFER,
        "self.priority && packet.class == Class::LowerEffort",
        "false",
    ),
]


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The link as a crate, with the versions that the workspace has locked."""
    folder = tmp_path_factory.mktemp("link")
    known = tomllib.loads((TOP / "Cargo.toml").read_text())["workspace"]["dependencies"]
    (folder / "Cargo.toml").write_text(
        '[workspace]\n[package]\nname = "netnice-link-alone"\nversion = "0.0.0"\nedition = "2021"\n'
        f'[dependencies]\nfastrand = "{known["fastrand"]}"\n'
        f'serde = {{ version = "{known["serde"]["version"]}", features = ["derive"] }}\n'
        f'[dev-dependencies]\nproptest = "{known["proptest"]}"\n'
    )
    shutil.copy(TOP / "Cargo.lock", folder)
    source = TOP / "crates/path/src"
    shutil.copytree(source / "link", folder / "src/link", copy_function=shutil.copyfile)
    shutil.copyfile(source / "class.rs", folder / "src/class.rs")
    (folder / "src/lib.rs").write_text("pub mod class;\npub mod link;\n")
    return folder


def of(crate: Path) -> str:
    return verdict(crate, "--lib", cases=64)


def test_the_link_as_it_is_passes(crate: Path) -> None:
    assert of(crate).startswith("test result: ok.")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_link_is_caught(crate: Path, tmp_path: Path, mutant: Mutant) -> None:
    broken = tmp_path / "broken"
    # With times of now: by older ones cargo would take an earlier mutant's build for this one's.
    shutil.copytree(crate, broken, copy_function=shutil.copyfile)
    mutant.apply(broken)
    assert of(broken).startswith("test result: FAILED."), f"nobody notices that {mutant.breaks}"
