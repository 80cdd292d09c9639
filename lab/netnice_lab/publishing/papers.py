# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The page of the papers' claims: the paper's value beside ours, met, missed or not comparable, and how to see it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from lint.links import slug
from netnice_lab.errors import LabError
from netnice_lab.judgement import claims
from netnice_lab.judgement.claims import Claim, Held, Standing
from netnice_lab.model.experiment import Row

FIGURE = re.compile(r"(Figure|Table) (\d+|[IVX]+)")
Rows = Mapping[str, Sequence[Row]]


def command(claim: Claim) -> str:
    """What shows it: experiments to run, or the tests' files."""
    shown = [f"`{name}`" for name in claim.experiments]
    shown += list(dict.fromkeys(f"`{test.partition(': ')[0].rpartition('/')[2]}`" for test in claim.tests))
    return " ".join(shown) or "–"


def cell(text: str) -> str:
    """Text that breaks no table."""
    return text.replace("|", "\\|") or "–"


def figure(claim: Claim) -> str:
    """The figure or table that a claim is about, without its parts; nothing for text."""
    found = FIGURE.match(claim.where)
    return found.group() if found else ""


def line(held: Held, anchor: str = "") -> str:
    """A row; ``anchor``: what links to it."""
    claim = held.claim
    standing = held.standing.value if held.standing is not Standing.MISSED else "**missed**"
    why = held.why or (f"not with `{claim.fails}`" if claim.fails else "")
    where = (f'<a id="{anchor}"></a>' if anchor else "") + claim.where
    columns = (claim.section, where, claim.says, claim.paper, held.ours, standing, why)
    return "| " + " | ".join([*map(cell, columns), command(claim)]) + " |"


def counts(found: Sequence[Held]) -> dict[Standing, int]:
    """How many claims stand how."""
    have = Counter(one.standing for one in found)
    return {standing: have[standing] for standing in Standing}


def sentence(found: Sequence[Held], papers: Sequence[str]) -> str:
    """How many are met, missed, not comparable, and how many of the readers' entries have no row."""
    without = sum(len(claims.unanswered(paper, claims.read(paper))) for paper in papers)
    said = ", ".join(f"{number} {standing.value}" for standing, number in counts(found).items())
    total = sum(map(claims.entry_count, papers))
    return f"**{len(found)} claims: {said}.** Of {total} entries of the readers {without} have no row."


def held(paper: str, rows: Rows) -> list[Held]:
    """A paper's claims beside what is recorded."""
    return [claims.hold(claim, rows) for claim in claims.read(paper)]


def table(paper: str, rows: Rows) -> str:
    """A paper's claims in Markdown."""
    found = held(paper, rows)
    head = ("section", "where", "the paper says", "its value", "ours", "", "why, or what would fail it", "see")
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    seen = {""}
    for one in found:
        name = figure(one.claim)
        lines.append(line(one, slug(name) if name not in seen else ""))
        seen.add(name)
    left = claims.unanswered(paper, claims.read(paper))
    if left:
        lines += ["", "Without a row:", "", *(f"* {one}" for one in left)]
    return "\n".join([sentence(found, [paper]), "", *lines]) + "\n"


def summary(rows: Rows) -> str:
    """All papers in a line, and a line each."""
    by_paper = {paper: held(paper, rows) for paper in claims.PAPERS}
    everything = [one for found in by_paper.values() for one in found]
    head = ["paper", "claims", *(standing.value for standing in Standing), "entries without a row"]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for paper, found in by_paper.items():
        without = len(claims.unanswered(paper, claims.read(paper)))
        numbers = [len(found), *counts(found).values(), without]
        lines.append(f"| [{claims.PAPERS[paper]}](papers/{paper}.md) | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join([sentence(everything, list(claims.PAPERS)), "", *lines]) + "\n"


def made(name: str) -> str:
    """A paper's table, or the line of all of them, from what is recorded."""
    if name == "summary":
        return summary(claims.recorded_rows(list(claims.PAPERS)))
    if name not in claims.PAPERS:
        raise LabError(f"no claims of '{name}'", "", f"choose one of {', '.join(claims.PAPERS)}, or summary")
    return table(name, claims.recorded_rows([name]))
