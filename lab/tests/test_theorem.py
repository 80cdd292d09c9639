# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import pytest

from experiments.tcp_nice.theorem import Path, bound, interference, reno_throughput

PATH = Path(mu=950, tau=0.1, buffer=98)


def test_the_bound_is_equation_1() -> None:
    assert bound(Path(mu=1000, tau=0.1, buffer=100), 1, 0.2) == pytest.approx(4 * 4.248e-18 / 100, rel=1e-3)


def test_reno_alone_with_a_full_buffer_uses_the_link() -> None:
    assert reno_throughput(PATH, 1, 0, 0.1) == pytest.approx(950, rel=0.05)


def test_the_fluid_interference_falls_with_the_buffer() -> None:
    small, large = (interference(Path(950, 0.1, b), 4, 16, 0.1) for b in (10, 98))
    assert small > large
    assert large < 0.02
