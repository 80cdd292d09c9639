# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The lab's figures in small pictures on a page, each with a link to the claims or the numbers that it is of."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from lint.links import slug
from netnice_lab.judgement import claims
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Figure
from netnice_lab.publishing import figures, papers, thumbnails

PAGE, PICTURES = "gallery.md", "pictures"
HEAD = """# The lab's figures in small

Each picture leads to its claims, or to the section that has its numbers. It shows the first panel of a figure, from
the recorded results: the means over the seeds. `lab/netnice-lab plot NAME` draws it whole, with axes and legends.
"""


def experiments(paper: str) -> dict[str, list[str]]:
    """Of each figure and table of a paper the experiments that hold its claims: first the one that has its name."""
    found: dict[str, list[str]] = {}
    for claim in claims.read(paper):
        if name := papers.figure(claim):
            found.setdefault(name, []).extend(claim.experiments)
    return {
        name: sorted(dict.fromkeys(found[name]), key=lambda one: not one.endswith(f"-fig{name.split()[1]}"))
        for name in figures.ordered(found)
    }


@cache
def drawable(name: str) -> tuple[Figure, pd.DataFrame] | None:
    """What can be drawn of an experiment."""
    return thumbnails.drawable(catalogue.load(name))


def picture(name: str, caption: str, file: Path, link: str) -> str:
    """Draws an experiment, if it can be drawn; gives the picture with its link, or nothing."""
    if not (found := drawable(name)):
        return ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(thumbnails.svg(caption, *found))
    about = f"{caption}: {catalogue.load(name).title}".translate(str.maketrans("", "", "[]()"))
    return f"[![{about}]({PICTURES}/{file.name})]({link})"


def together(names: Sequence[str]) -> str:
    """Figures of one experiment in a caption."""
    return f"Figures {names[0].split()[1]} to {names[-1].split()[1]}" if len(names) > 2 else ", ".join(names)


def of_papers(folder: Path) -> Iterator[str]:
    """A section a paper: its figures, a picture an experiment, and those without a picture."""
    for paper, title in claims.PAPERS.items():
        by_experiment: dict[str, list[str]] = {}
        for name, several in experiments(paper).items():
            by_experiment.setdefault(next(filter(drawable, several), ""), []).append(name)
        without = ", ".join(f"[{name}]({paper}.md#{slug(name)})" for name in by_experiment.pop("", ()))
        yield f"\n## {title}\n"
        for experiment, names in by_experiment.items():
            file, link = folder / PICTURES / f"{paper}-{slug(names[0])}.svg", f"{paper}.md#{slug(names[0])}"
            yield picture(experiment, together(names), file, link)
        yield f"\nWithout a picture: {without}.\n" if without else ""


def of_pages(folder: Path, sections: dict[str, str]) -> Iterator[str]:
    """What is no paper's figure, by the pages that have its numbers."""
    drawn = {name for paper in claims.PAPERS for several in experiments(paper).values() for name in several}
    yield "\n## More of the lab\n"
    for name, link in sections.items():
        if name not in drawn:
            yield picture(name, name, folder / PICTURES / f"{name}.svg", link.partition("](")[2].rstrip(")"))


def write(folder: Path, experiments_of: figures.Experiments) -> Path:
    """The page and its pictures; ``folder`` is where the papers' pages are, or a copy of it."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / PAGE
    parts = [HEAD, *of_papers(folder), *of_pages(folder, figures.sections(experiments_of))]
    page.write_text("\n".join(part for part in parts if part) + "\n")
    return page
