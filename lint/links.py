# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Links that lead nowhere: relative links and anchors of all Markdown pages, pages that any text names. Prints each."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lint.tree import TOP, tracked

FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)(?:\s+#+)?\s*$")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
COMMENT = re.compile(r"<!--.*?-->")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^ {0,3}\[[^\]]+\]:\s*(\S+)|(?:href|src)=\"([^\"]+)\"")
ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
#: A page that a comment, a message or a help text names, from the top of the tree on.
MENTION = re.compile(r"(?<![\w./*<{-])((?:docs|demo|lab)/[a-z][\w/-]*\.md)(#[\w-]+)?")
#: Tests that write pages of their own; the navigation, which MkDocs checks: `make pages` writes one of its pages.
NO_MENTIONS = ("CHANGELOG.md", "tests/house/", "lab/tests/", "packaging/pages/mkdocs.yml")


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading, and our web pages too."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"<[^>]+>|[`*]", "", text)
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside its blocks of code, with their numbers."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        marks = FENCE.match(line)
        if fence:
            fence = "" if marks and marks.group(1).startswith(fence) else fence
        elif marks:
            fence = marks.group(1)
        else:
            yield number, COMMENT.sub("", line)


def anchors(text: str) -> set[str]:
    """What of a page a link can lead to; a heading that comes again is numbered."""
    found: set[str] = set()
    for _, line in prose(text):
        found |= set(ANCHOR.findall(line))
        if heading := HEADING.match(line):
            name = plain = slug(heading.group(1))
            again = 0
            while name in found:
                again += 1
                name = f"{plain}-{again}"
            found.add(name)
    return found


def links(text: str) -> Iterator[tuple[int, str]]:
    """The targets of a page's links into the tree, with their lines."""
    for number, line in prose(text):
        for groups in LINK.findall(CODE.sub("``", line)):
            target = next(filter(None, groups))
            if not SCHEME.match(target):
                yield number, target


def broken(path: str, text: str, pages: dict[str, set[str]], files: set[str]) -> Iterator[str]:
    """The links and names of pages in a file that lead nowhere, as ``LINE: what``."""
    said = [(number, target, Path(path).parent) for number, target in links(text)] if path.endswith(".md") else []
    if not path.startswith(NO_MENTIONS):
        for number, line in enumerate(text.splitlines(), 1):
            names = ["".join(found) for found in MENTION.findall(COMMENT.sub("", line))]
            said += [(number, name, Path()) for name in names]
    for number, target, folder in said:
        file, _, anchor = target.partition("#")
        goal = os.path.normpath(folder / file) if file else path
        if goal.startswith(("..", "/")):
            yield f"{number}: {target} leads out of the tree"
        elif goal not in files:
            yield f"{number}: {target}: there is no {goal}"
        elif anchor and anchor not in pages.get(goal, set()):
            yield f"{number}: {target}: {goal} has no heading #{anchor}"


def check(texts: dict[str, str], others: set[str]) -> Iterator[str]:
    """All that is broken in a tree of texts, beside ``others``, which are only led to."""
    files = texts.keys() | others
    files |= {str(folder) for file in files for folder in Path(file).parents}
    pages = {path: anchors(text) for path, text in texts.items() if path.endswith(".md")}
    for path, text in texts.items():
        yield from (f"{path}:{what}" for what in dict.fromkeys(broken(path, text, pages, files)))


if __name__ == "__main__":
    listed = subprocess.run(["git", "-C", TOP, "ls-files"], check=True, capture_output=True, text=True).stdout
    sys.exit("\n".join(check(tracked(), set(listed.splitlines()))) or 0)
