# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A figure that a page takes from another one is still there: one of them is measured, the other one links to it."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
LINK = re.compile(r"\[([^\]]*\d %)\]\(([^)#]+\.md)")


def has(page: str, percent: str) -> bool:
    """Whether a page has a part in percent, or 'so much longer' as a factor."""
    factor = f"{1 + int(percent) / 100:.2f}"
    return bool(re.search(rf"(?<![\d.]){percent} %|(?<![\d.]){re.escape(factor)}(?!\d)", page))


def missing(page: Path, text: str) -> list[str]:
    """The figures of a text that the pages they link to do not have."""
    return [
        f"{figure} %: {target}"
        for shown, target in LINK.findall(text)
        for figure in re.findall(r"\d+", shown)
        if not has((page.parent / target).read_text(encoding="utf-8"), figure)
    ]


def numbers(page: Path) -> set[str]:
    """The numbers of its measured table."""
    block = re.search(r"<!-- measured: begin(.*?)<!-- measured: end", page.read_text(encoding="utf-8"), re.DOTALL)
    assert block, page
    return set(re.findall(r"\d+(?:\.\d+)?", "".join(re.findall(r"^\|.*", block[1], re.MULTILINE))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_linked_figure_is_that_of_its_page(page: Path) -> None:
    assert missing(page, page.read_text(encoding="utf-8")) == []


def test_another_figure_is_found() -> None:
    page = TOP / "docs/README.md"
    assert missing(page, "[10 to 18 %](research/downloads.md), [85 %](research/household.md#a)") == []
    assert missing(page, "[10 to 99 %](research/downloads.md)") == ["99 %: research/downloads.md"]


def test_the_readmes_table_is_the_demos() -> None:
    shown = numbers(TOP / "README.md")
    assert "100" in shown
    assert shown - {"1"} <= numbers(TOP / "docs/research/demo.md")


def test_the_readme_says_where_to_ask_and_what_to_attach() -> None:
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    (row,) = (line for line in readme.splitlines() if line.startswith("| get help"))
    assert "(CONTRIBUTING.md#get-help)" in row
    page = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("## Get help\n")[2].partition("\n## ")[0]
    assert "(docs/use/security.md#report-a-fault)" in section
    listed = (TOP / "docs/use/commands.md").read_text(encoding="utf-8")
    for verb in ("doctor", "status", "explain"):
        assert f"netnicectl {verb} --json" in section
        assert f"`netnicectl {verb}" in listed
