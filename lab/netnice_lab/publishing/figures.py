# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The index of the papers' figures and tables: how the claims of each stand, what draws it, where its numbers are."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lint.links import HEADING, slug
from netnice_lab import places
from netnice_lab.judgement import claims
from netnice_lab.judgement.claims import Held, Standing
from netnice_lab.publishing import papers

NAME = "figures"
TABLE = re.compile(r"<!-- table ([\w-]+) ([\w-]+) -->")
Experiments = Callable[[str, str], Sequence[str]]
"""The experiments of a table, by its mark."""


def by_figure(found: Sequence[Held]) -> dict[str, list[Held]]:
    """The claims of each figure, figures first, in their order."""
    names = ordered(filter(None, (papers.figure(one.claim) for one in found)))
    return {name: [one for one in found if papers.figure(one.claim) == name] for name in names}


def ordered(names: Iterable[str]) -> list[str]:
    """Each once, figures before tables, by their numbers."""
    return sorted(dict.fromkeys(names), key=lambda name: (name[0], int(name.split()[1]) if name[-1].isdigit() else 0))


def sections(experiments: Experiments) -> dict[str, str]:
    """Of each experiment with a table in docs/research/ the first section that has one, as a link from its papers/."""
    found: dict[str, str] = {}
    for page in sorted((places.CLONE / "docs/research").glob("*.md")):
        found |= {name: link for name, link in in_page(page, experiments) if name not in found}
    return found


def in_page(page: Path, experiments: Experiments) -> Iterator[tuple[str, str]]:
    """The experiments of a page's tables, each with a link to the section; the last first, as the first counts."""
    heading, found = "", []
    for line in page.read_text().splitlines():
        if match := HEADING.match(line):
            heading = match.group(1)
        elif match := TABLE.match(line):
            link = f"[{page.name}](../{page.name}#{slug(heading)})"
            found += [(name, link) for name in experiments(match[1], match[2])]
    return reversed(found)


def rows(paper: str, found: Sequence[Held], links: dict[str, str]) -> list[str]:
    """A row a figure."""
    lines = []
    for name, held in by_figure(found).items():
        names = list(dict.fromkeys(experiment for one in held for experiment in one.claim.experiments))
        shown = " ".join(f"`{one}`" for one in names) or "–"
        tables = ", ".join(dict.fromkeys(links[one] for one in names if one in links)) or "–"
        counts = " | ".join(str(count) for count in papers.counts(held).values())
        lines.append(f"| [{name}]({paper}.md#{slug(name)}) | {counts} | {shown} | {tables} |")
    return lines


def made(experiments: Experiments) -> str:
    """A table a paper, from what is recorded."""
    recorded, links, parts = claims.recorded_rows(list(claims.PAPERS)), sections(experiments), []
    head = ["figure", *(standing.value for standing in Standing), "`lab/netnice-lab plot`", "tables"]
    for paper, title in claims.PAPERS.items():
        lines = rows(paper, papers.held(paper, recorded), links)
        parts += [f"## {title}", "", f"| {' | '.join(head)} |", f"| {' | '.join(['---'] * len(head))} |", *lines, ""]
    return "\n".join(parts)
