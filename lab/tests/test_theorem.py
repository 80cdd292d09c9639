# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import itertools

import pytest

from experiments.tcp_nice.theorem import (
    BUFFERS,
    MANY,
    MU,
    NICES,
    RENOS,
    STEPS,
    TAU,
    THRESHOLDS,
    Path,
    bound,
    integrate,
    interference,
)

CELLS = list(itertools.product(RENOS, BUFFERS, (*NICES, MANY), THRESHOLDS))


def test_the_bound_is_equation_1() -> None:
    assert bound(Path(mu=1000, tau=0.1, buffer=100), 1, 0.2) == pytest.approx(4 * 4.248e-18 / 100, rel=1e-3)


def test_the_fluid_interference_is_at_most_the_bound_in_all_sixty_cells() -> None:
    """But for the integration's own error."""
    over = [
        (reno, buffer, nice, threshold)
        for reno, buffer, nice, threshold in CELLS
        if interference(Path(MU, TAU, buffer), reno, nice, threshold / 100)
        > bound(Path(MU, TAU, buffer), reno, threshold / 100) + 0.05 / STEPS
    ]
    assert len(CELLS) == 60
    assert over == []


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_windows_and_periods_become_steady(cell: tuple[int, int, int, int]) -> None:
    reno, buffer, nice, threshold = cell
    *_, last = found = integrate(Path(MU, TAU, buffer), reno, nice, threshold / 100)
    for one in found[-6:]:
        assert one.reno == pytest.approx(last.reno, rel=0.01)
        assert one.nice == pytest.approx(last.nice, rel=0.01, abs=0.01)
        assert one.seconds == pytest.approx(last.seconds, rel=0.01)
