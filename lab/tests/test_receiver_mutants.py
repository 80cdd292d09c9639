# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Deliberately broken receiver shims, in a copy of the tree: the quick check must fail for each."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from clone import Clone
from netnice_lab.engine.faults import Mutant
from netnice_lab.engine.programs import Programs

EXPERIMENT = "vulture-fig15"
SHIM = "transport/receiver"
MUTANTS = (
    Mutant(
        "window-not-told",
        "what the core decides never reaches the socket",
        SHIM,
        "if (nn_tell(&c->flow, window))",
        "if (nn_tell(&c->flow, window) && !c)",
    ),
    Mutant(
        "clock-of-the-wire",
        "an echo is taken for the time at which our ACK left, with the offset that the kernel gave it",
        SHIM,
        ".tsecr = tcp->rx_opt.rcv_tsecr,",
        ".tsecr = tcp->rx_opt.rcv_tsecr + tcp->tsoffset,",
    ),
)


@pytest.fixture(scope="module")
def clone(built: Programs) -> Iterator[Clone]:
    with TemporaryDirectory(prefix="netnice-lab-") as folder:  # not pytest's, which it keeps
        yield Clone(Path(folder))


@pytest.fixture
def broken(clone: Clone, request: pytest.FixtureRequest) -> Iterator[Mutant]:
    """A mutant, in the copy while its test runs."""
    mutant: Mutant = request.param
    file: Path = mutant.apply(clone.top)
    yield mutant
    file.write_text(file.read_text().replace(mutant.new, mutant.old))


def test_the_shim_as_it_is_passes(clone: Clone) -> None:
    assert clone.check(EXPERIMENT)


@pytest.mark.parametrize("broken", MUTANTS, ids=lambda mutant: mutant.name, indirect=True)
def test_the_check_fails_for_a_broken_shim(clone: Clone, broken: Mutant) -> None:
    assert not clone.check(EXPERIMENT), f"nobody notices: {broken.breaks}"
