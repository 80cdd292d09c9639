# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import numpy as np
import pytest

from netnice_lab.errors import LabError
from netnice_lab.model.foreground import Browsing, poisson


def test_the_mean_demand_is_exactly_the_one_asked_for() -> None:
    documents = Browsing(800_000).documents(300, 1)
    assert sum(d.size for d in documents) * 8 / 300 == pytest.approx(800_000, rel=1e-3)


def test_about_twelve_clients_are_present() -> None:
    present = []
    for seed in range(20):
        documents = Browsing(800_000).documents(300, seed)
        spans: dict[int, list[float]] = {}
        for d in documents:
            spans.setdefault(d.client, []).append(d.at)
        present.append(sum(max(times) - min(times) for times in spans.values()) / 300)
    assert 9 < np.mean(present) < 13  # a client's last thinking time is not seen


def test_sizes_have_the_stated_statistics() -> None:
    sizes = Browsing(1).sizes(np.random.default_rng(1), 400_000)
    assert sizes.min() >= 2000
    assert sizes.max() <= 500_000
    assert sizes.mean() == pytest.approx(9700, rel=0.05)
    assert np.median(sizes) == pytest.approx(3760, rel=0.02)
    largest = np.sort(sizes)[-4000:]
    assert 0.2 < largest.sum() / sizes.sum() < 0.3


def test_a_seed_decides_everything() -> None:
    assert Browsing(800_000).documents(60, 1) == Browsing(800_000).documents(60, 1)
    assert Browsing(800_000).documents(60, 1) != Browsing(800_000).documents(60, 2)
    assert poisson(1e6, 60, 1) == poisson(1e6, 60, 1)


def test_documents_are_in_order_and_within_the_run() -> None:
    for documents in (Browsing(800_000).documents(100, 3), poisson(8e5, 100, 3)):
        times = [d.at for d in documents]
        assert times == sorted(times)
        assert times[0] >= 0
        assert times[-1] < 100


def test_an_impossible_demand_is_an_error() -> None:
    with pytest.raises(LabError, match="must be positive"):
        Browsing(0).documents(10, 1)
