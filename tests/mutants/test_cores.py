# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Deliberately broken cores: the tests on the host must fail for each; the lab's own are in netnice_lab.engine.mutants.

The cores' crate is copied with the headers that it compiles, and each mutant is built and tested there.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mutants.suite import verdict
from netnice_lab.engine.mutants import Mutant

TOP = Path(__file__).resolve().parents[2]
SENDER, RECEIVER = "algorithms/sender", "algorithms/receiver"
CRATES = ("crates/cores", "crates/build")
MUTANTS = {
    "netnice_rules": (
        Mutant(
            "nice-never-halves",
            "however many segments met congestion",
            SENDER,
            "return round->slow && (u64)round->slow * 100 > (u64)round->seen * p[NN_P_fraction];",
            "return round->slow && !p;",
        ),
    ),
    "ladder_rules": (
        Mutant(
            "level-never-cuts", "a level bears any queue", SENDER, "if (queue > band) {", "if (queue > band && !p) {"
        ),
    ),
    "ledbat_rules": (
        Mutant(
            "ledbat-microscopic",
            "the target is a hundredth of what it says",
            SENDER,
            "return nn_min(nn_max(p[NN_P_target], 1), 1000) * 1000;",
            "return nn_min(nn_max(p[NN_P_target], 1), 1000) * 10;",
        ),
    ),
    "receiver": (
        Mutant(
            "tide-keeps-all",
            "the window is the path's share of itself, whatever the queue",
            RECEIVER,
            "return nn_max((u32)(w * base / (base + queue)), flow->floor);",
            "return nn_max((u32)(w * base / (base + 0 * queue)), flow->floor);",
        ),
        Mutant(
            "tide-for-itself",
            "each of a host's downloads creeps as if it were alone",
            RECEIVER,
            "return nn_max(flow->siblings, 1);",
            "return 1 + 0 * flow->siblings;",
        ),
        Mutant(
            "tide-blind",
            "a standing queue is no reason to yield",
            RECEIVER,
            "if (queue > target || (round->lost",
            "if (!p || (round->lost",
        ),
        Mutant(
            "vulture-never-halves",
            "delays that grow are not believed",
            RECEIVER,
            "if (8ull * (aggressive ? v->high[1] : v->high[0]) > alpha)",
            "if (8ull * (aggressive ? v->high[1] : v->high[0]) > alpha && !p)",
        ),
    ),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of the cores' crate alone."""
    folder = tmp_path_factory.mktemp("cores")
    for name in (*CRATES, "algorithms"):
        shutil.copytree(TOP / name, folder / name, copy_function=shutil.copyfile)
    members = f"members = {json.dumps(CRATES)}"
    manifest, found = re.subn(r"^members = .*$", members, (TOP / "Cargo.toml").read_text(), flags=re.MULTILINE)
    assert found == 1, "the workspace lists its members in one line"
    (folder / "Cargo.toml").write_text(manifest)
    shutil.copy(TOP / "Cargo.lock", folder)
    return folder


@pytest.fixture
def broken(tree: Path, request: pytest.FixtureRequest) -> Iterator[Mutant]:
    """A mutant, in the tree while its test runs; cargo builds by the time that a file has."""
    mutant: Mutant = request.param
    file = mutant.apply(tree)
    yield mutant
    file.write_text(file.read_text().replace(mutant.new, mutant.old))


def of(tree: Path, suite: str) -> str:
    return verdict(tree, "-p", "netnice-cores", "--test", suite, cases=32)


@pytest.mark.parametrize("suite", MUTANTS)
def test_the_cores_as_they_are_pass(tree: Path, suite: str) -> None:
    assert of(tree, suite).startswith("test result: ok.")


@pytest.mark.parametrize(
    ("suite", "broken"),
    [pytest.param(suite, one, id=one.name) for suite, found in MUTANTS.items() for one in found],
    indirect=["broken"],
)
def test_a_broken_core_is_caught(tree: Path, suite: str, broken: Mutant) -> None:
    assert of(tree, suite).startswith("test result: FAILED."), f"nobody notices: {broken.breaks}"
