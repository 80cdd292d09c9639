# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Small pictures of what is recorded: which figures have one, where each leads, and what is in it."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from netnice_lab import places
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Figure
from netnice_lab.publishing import gallery, tables, thumbnails

FIGURE = Figure(x="flows", y="latency", series="protocol", x_label="flows", y_label="ms")
FRAME = pd.DataFrame(
    [("a", 1, 2.0), ("a", 1, 4.0), ("a", 16, 9.0), ("b", 1, 6.0), ("b", 16, 0.0)],
    columns=["protocol", "flows", "latency"],
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gallery.write(tmp_path_factory.mktemp("papers"), tables.experiments_of)


def test_every_picture_is_there_and_has_its_caption(page: Path) -> None:
    found = re.findall(r"\[!\[([^\]]+)\]\(([^)]+)\)\]\([^)]+\.md#[\w-]+\)", page.read_text())
    assert {file for _, file in found} == {str(f.relative_to(page.parent)) for f in page.parent.rglob("*.svg")}
    assert len(found) > 40
    for about, file in found:
        caption = ElementTree.parse(page.parent / file).find("{*}text")
        assert caption is not None
        assert about.startswith(f"{caption.text}: ")


def test_a_figure_has_a_picture_or_a_reason_to_have_none(page: Path) -> None:
    text = page.read_text()
    for figure in range(2, 12):
        assert f"[![Figure {figure}: " in text.partition("## TCP Nicer")[0]
    assert "Without a picture: [Figure 1](tcp-nice.md#figure-1)." in text
    assert "[![Figures 3 to 8: " in text
    assert "(../levels.md#alone-nicer-alone)" in text


def test_a_line_is_the_mean_over_the_seeds() -> None:
    assert thumbnails.lines(FIGURE, FRAME) == [[(1.0, 3.0), (16.0, 9.0)], [(1.0, 6.0), (16.0, 0.0)]]


def test_a_logarithmic_axis_has_no_zero() -> None:
    log = Figure(x="flows", y="latency", series="protocol", x_label="", y_label="", log_y=True)
    assert [len(line) for line in thumbnails.lines(log, FRAME)] == [2, 1]


def test_points_of_one_place_stand_beside_each_other() -> None:
    assert thumbnails.lines(FIGURE, FRAME[FRAME.flows == 1]) == [[(0.0, 3.0)], [(1.0, 6.0)]]


def test_what_is_measured_but_not_recorded_is_missing() -> None:
    experiment = catalogue.load("nicer-fig1")
    frame = thumbnails.rows(experiment)
    assert "upper_latency_start" not in frame
    assert thumbnails.derived(experiment, frame)["upper"].notna().all()


@pytest.mark.verify("it draws, by matplotlib")
def test_the_pages_pictures_are_of_what_is_recorded(tmp_path: Path) -> None:
    from netnice_lab.publishing import plot

    page = (places.CLONE / "docs/research/lines.md").read_text()
    for name in re.findall(r"pictures/(real-[\w-]+)\.svg", page):
        (drawn,) = plot.draw_recorded(catalogue.load(name), tmp_path)
        held = places.CLONE / "docs/pictures" / drawn.name
        assert held.read_bytes() == drawn.read_bytes(), f"lab/netnice-lab plot {name} --recorded --out docs/pictures"
