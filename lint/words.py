# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Words that hide what a sentence is about, in pages, comments, docstrings and messages of programs. Prints each.

"Who" is for people: "users who wait". A flow, a socket or a process has a name. What is in backquotes is not read.
Sentences of more than 25 words are counted; --long prints them.
"""

import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lint.links import CODE, COMMENT, FENCE
from lint.tree import tracked

MOST_WORDS = 25
PEOPLE = r"(?:administrators?|attackers?|developers?|maintainers?|people|persons?|readers?|users?|visitors?)"
#: What is not written, and what is instead. A space stands for any white space.
INSTEAD = {
    rf"(?:\b{PEOPLE},? )?\bwho(?:m|ever|mever)?\b": "name the thing",
    r"\btheirs\b": "name the owner",
    r"\b(?:some|no|any|every)(?:body|one)\b": "name it: 'no user', 'another program', 'all flows'",
    r"\bthat which\b": "name the thing",
    r"\b(?:could|can|cannot) be had\b": "name what is missing",
    r"\bhast(?:e|y)\b": "unpaced, pacing_gain, fast_growth",
    r"\bout of the way of (?:other|all|every)|\bcannot begin to yield\b": "yields to, cannot yield",
    r"\b(?:is|are) concerned\b": "applies to",
    r"\bpaths? of today\b|\bof its own copies\b|\bin use are as they were\b": "see the table in the project's style",
}
ALLOWED = re.compile(rf"{PEOPLE},?\s+who(?:m)?", re.IGNORECASE)

#: What is not read: quotations, the past, and the words as examples.
NOT_READ = ("CHANGELOG.md", "lab/claims/", "lab/recorded/", "docs/papers/", "lint/words.py", "tests/house/test_lint")
#: Files that are yet to be mended; a name without a breach is one itself.
UNMENDED = Path(__file__).with_name("unmended").read_text(encoding="utf-8").split()

C_PART = re.compile(
    r"""(?P<comment>(?://[^\n]*(?:\n[ \t]*(?=//))?)+|/\*.*?\*/)"""
    r"""|b?r(?P<marks>#*)"(?P<raw>.*?)"(?P=marks)|'(?:\\.|[^'\\\n])'|(?P<string>b?"(?:\\.|[^"\\])*")""",
    re.DOTALL,
)
MARKS = re.compile(r"^[ \t]*(?://[/!]?|/\*+|\*(?!/)|#!.*|#:?)?[ \t]?(?:SPDX.*)?|[ \t]*\*/$", re.MULTILINE)
RUST_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?mod \w+ \{")

Block = tuple[int, str]


def page(text: str) -> Iterator[Block]:
    """Paragraphs, list items and rows of tables of a Markdown page."""
    fence, block, start = "", "", 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        marks = FENCE.match(line)
        plain = "" if fence or marks or line.startswith("    ") else COMMENT.sub("", line)
        if marks:
            fence = "" if fence and marks.group(1).startswith(fence) else fence or marks.group(1)
        if block and (not plain.strip() or re.match(r"\s*(?:[-*|#]|\d+\.)", plain)):
            yield start, block
            block = ""
        if plain.strip():
            start = start if block else number
            block += f"{plain}\n"


def c_like(text: str, messages: bool) -> Iterator[Block]:
    """Comments of C and Rust; with ``messages`` also the strings outside of tests."""
    tests = found.start() if (found := RUST_TESTS.search(text)) else len(text)
    for part in C_PART.finditer(text):
        number = text.count("\n", 0, part.start()) + 1
        if part["comment"]:
            yield from paragraphs(number, MARKS.sub("", part["comment"]))
        elif messages and part.start() < tests and (string := part["string"] or part["raw"]):
            yield number, re.sub(r"\\\n\s*|\\n", " ", string.strip('"'))


def python(text: str) -> Iterator[Block]:
    """Comments and docstrings of Python."""
    blank = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT}
    last, comment, start = 0, "", 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            start = start if comment else token.start[0]
            comment += MARKS.sub("", token.string) + "\n"
        elif comment and (token.type != tokenize.NL or not token.line.strip()):
            yield start, comment
            comment = ""
        if token.type == tokenize.STRING and last in {0, tokenize.NEWLINE}:
            yield from paragraphs(token.start[0], token.string.strip("\"'"))
        last = last if token.type in blank else token.type


def paragraphs(start: int, text: str) -> Iterator[Block]:
    """The paragraphs of a text that starts at that line."""
    for part in re.split(r"(\n[ \t]*\n)", text):
        if part.strip():
            yield start, part
        start += part.count("\n")


def blocks(path: str, text: str) -> Iterator[Block]:
    """What of a file is prose, with line numbers."""
    suffix = Path(path).suffix
    if suffix == ".md":
        yield from page(text)
    elif suffix in {".c", ".h", ".cc", ".rs"}:
        yield from c_like(text, suffix == ".rs" and "/tests" not in path)
    elif suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
        yield from python(text)
    elif path.endswith((".sh", ".toml", ".yml", ".service", "Makefile", "-packages")) or text.startswith("#!"):
        lines = (line if line.lstrip().startswith("#") else "" for line in text.splitlines())
        yield from paragraphs(1, MARKS.sub("", "\n".join(lines)))


def breaches(block: str) -> Iterator[tuple[int, str]]:
    """What is not written in a block: how many lines into it, and what."""
    plain = re.sub(r"\]\([^)\s]+\)", "]", CODE.sub("``", block))
    for rule, instead in INSTEAD.items():
        for found in re.finditer(rule.replace(" ", r"\s+"), plain, re.IGNORECASE):
            if not ALLOWED.fullmatch(found.group()):
                yield plain.count("\n", 0, found.start()), f"'{' '.join(found.group().split())}': {instead}"


def long_sentences(block: str) -> Iterator[str]:
    """The sentences of a block, or of a table's cell, that are too long."""
    for sentence in re.split(r"(?<=[.!?])[)\"]?\s+|\s\|\s", CODE.sub("x", block)):
        if len(re.findall(r"\w[\w'./-]*", sentence)) > MOST_WORDS:
            yield " ".join(sentence.split())


def main(words: list[str]) -> str:
    """Prints how many sentences are long, by folder; gives the breaches."""
    said, long, unmended = [], Counter[str](), set()
    for path, text in tracked().items():
        for number, block in () if path.startswith(NOT_READ) else blocks(path, text):
            found = [f"{path}:{number + below}: {what}" for below, what in breaches(block)]
            unmended |= {path} if found else set()
            said += found if path not in UNMENDED else []
            for sentence in long_sentences(block):
                long[path.partition("/")[0]] += 1
                if "--long" in words:
                    print(f"{path}:{number}: {sentence}")
    said += [f"{path}: nothing is left to mend: take it out of lint/unmended" for path in set(UNMENDED) - unmended]
    print(f"files to mend: {len(UNMENDED)}; sentences of more than {MOST_WORDS} words: {long.total()}, {dict(long)}")
    return "\n".join(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or 0)
