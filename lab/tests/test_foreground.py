# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The documents of a run: drawn from a seed, or read from a log."""

from pathlib import Path

import numpy as np
import pytest

from netnice_lab.errors import LabError
from netnice_lab.model.foreground import Browsing, poisson
from netnice_lab.model.tracelog import documents


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
    for made in (Browsing(800_000).documents(100, 3), poisson(8e5, 100, 3)):
        times = [d.at for d in made]
        assert times == sorted(times)
        assert times[0] >= 0
        assert times[-1] < 100


def test_an_impossible_demand_is_an_error() -> None:
    with pytest.raises(LabError, match="must be positive"):
        Browsing(0).documents(10, 1)


SQUID = "983802878.9 45 10.0.0.1 TCP_MISS/200 4512 GET http://a/ - DIRECT/10.9.9.9 text/html\n"
CLF = '10.0.0.1 - - [05/Mar/2001:14:34:38 +0000] "GET / HTTP/1.0" 200 4512\n'
CSV = "time,bytes,client\n12.5,4512,one\n"


@pytest.mark.parametrize("text", [SQUID, CLF, CSV])
def test_every_format_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "log").write_text(text)
    (document,) = documents(tmp_path / "log")
    assert (document.at, document.size, document.client) == (0.0, 4512, 0)


def test_times_count_from_the_first_entry_whatever_the_order(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("20,100,b\n10,200,a\n")
    assert [(d.at, d.size, d.client) for d in documents(tmp_path / "log")] == [(0, 200, 0), (10, 100, 1)]


@pytest.mark.parametrize("bad", ["nonsense", "1,2", "x,2,3", "1,-5,c", "nan,5,c"])
def test_a_malformed_line_is_named_by_its_number(tmp_path: Path, bad: str) -> None:
    (tmp_path / "log").write_text(f"1,100,a\n# remark\n{bad}\n")
    with pytest.raises(LabError, match=r"log:3: malformed line"):
        documents(tmp_path / "log")


def test_an_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("what is this\n")
    with pytest.raises(LabError, match=r"log:1: unknown log format(.|\n)*Squid"):
        documents(tmp_path / "log")


def test_an_empty_or_missing_log_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("")
    with pytest.raises(LabError, match="no entries"):
        documents(tmp_path / "log")
    with pytest.raises(LabError, match="cannot read"):
        documents(tmp_path / "absent")
