# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Words and sentences of pages, comments, docstrings and messages of programs, by Vale. Prints each breach.

The rules are in lint/vale/. Vale parses pages and the comments of C, Rust and Python. It does not parse messages of
programs in Rust, nor comments of scripts, of tables and of Makefile: those are brought to it as pages.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from lint.links import CODE
from lint.tree import tracked

HERE = Path(__file__).parent
VALE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netnice/vale/vale"
CLEAN = VALE.with_name("clean")

#: What is not read: quotations, the rules, and the words as examples.
NOT_READ = ("lab/claims/", "lab/recorded/", "docs/research/papers/", "lint/vale/", "tests/house/test_words")

TEXT = (".sh", ".toml", ".yml", ".service", "Makefile", "-packages")
RUST = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<marks>#*)"(?P<raw>.*?)"(?P=marks)|'(?:\\.|[^'\\\n])'|b?"(?P<string>(?:\\.|[^"\\])*)\"""",
    re.DOTALL,
)
#: Vale joins comments of successive lines that begin in one column. After code, every second one is moved.
AFTER_CODE = re.compile(r"^(?!\s*(?://|/?\*)).*\S\s*(?=/[/*])")
RUST_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?mod \w+ \{")

#: Of a page, what a command writes into it from strings of its own.
PRINTED = re.compile(r"^<!-- table .*?^<!-- end -->", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"\[[\w./-]+\.\w+\]\(")
#: The last word of a sentence, as in "after 2 s. Then": a letter, capitals or digits alone.
ENDS = re.compile(r"(?:(?<![.\w])(?:[A-Za-z]|[A-Z]{2,})|(?<=\w )\d+|\d+\.[\d.]*\d)(?=\.(?:\s|$))", re.MULTILINE)
#: A style sheet or a schema.
RULES = re.compile(r"\{[^}]*;[^}]*\}")
#: A row of a table in a comment: a label, two spaces, text.
ROW = re.compile(r"\s{2,}\S+(?: \S+)*\s{2,}\S|\s+\|")
COMMENTED = re.compile(r"(?P<mark>\s*(?:\*(?!/)|//[/!]?|#))(?P<text>.*)")

#: Lines that Vale reads, each with the number of its line in the file.
Lines = list[tuple[int, str]]


class Breach(NamedTuple):
    """A rule that a text breaks."""

    path: str
    line: int
    rule: str
    what: str


def quoted(text: str) -> str:
    """A text with a word for code and for files, and without ends of sentences that look like abbreviations."""
    return ENDS.sub("endx", NAMED.sub("[Quotation](", CODE.sub("Quotation", text)))


def messages(text: str) -> Iterator[Lines]:
    """The strings of Rust outside of its tests."""
    tests = found.start() if (found := RUST_TESTS.search(text)) else len(text)
    for part in RUST.finditer(text):
        if part.start() < tests and (string := part["string"] or part["raw"]) and not RULES.search(string):
            first = text.count("\n", 0, part.start()) + 1
            written = enumerate(re.sub(r"\\\n[ \t]*", "\n", string).split("\n"), first)
            yield [(number, piece) for number, line in written for piece in line.split(r"\n")]


def remarks(text: str) -> Iterator[Lines]:
    """Comments after '#' that fill lines."""
    block: Lines = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        comment = re.match(r"\s*#(?!!|\s*SPDX|\s*shellcheck )[:?]? ?(.*)", line)
        if comment and comment[1]:
            block.append((number, comment[1]))
        elif block:
            yield block
            block = []


def prose(blocks: Iterator[Lines]) -> Lines:
    """A page of blocks; an indented line is a paragraph, too, and what is in backquotes is left out."""
    page: Lines = []
    for block in blocks:
        for number, line in block:
            page += [(number, "")] * line.startswith((" ", "\t")) + [(number, quoted(line.strip()))]
        page.append((block[-1][0], ""))
    return page


def source(text: str) -> Lines:
    """A source with what Vale takes for one sentence set apart: rows, and comments after code."""
    lines: Lines = []
    for number, line in enumerate(quoted(text).split("\n"), 1):
        comment = COMMENTED.match(line)
        if "SPDX-License" in line:
            lines.append((number, ""))
        elif comment and ROW.match(comment["text"]):
            lines += [(number, comment["mark"]), (number, f"{comment['mark']} {comment['text'].strip()}")]
        else:
            lines.append((number, AFTER_CODE.sub(r"\g<0> ", line) if number % 2 else line))
    return lines


def prepared(path: str, text: str) -> Iterator[tuple[str, Lines]]:
    """What Vale reads of a file, and under which names."""
    suffix = ".py" if text.startswith("#!/usr/bin/env python3") else Path(path).suffix
    if suffix == ".md":
        yield path, list(enumerate(quoted(PRINTED.sub(lambda lines: "\n" * lines[0].count("\n"), text)).split("\n"), 1))
    elif suffix in {".c", ".h", ".cc", ".rs", ".py"}:
        yield path.removesuffix(suffix) + suffix, source(text)
        if suffix == ".rs" and "/tests" not in path and not path.endswith("build.rs"):
            yield f"{path}.md", prose(messages(text))
    elif path.endswith(TEXT) or text.startswith("#!"):
        yield f"{path}.md", prose(remarks(text))


def breaches(files: dict[str, str]) -> list[Breach]:
    """What Vale finds in files, by their names and texts."""
    if not VALE.exists():
        sys.exit(f"lint/words.py: no {VALE}: run ./setup tools")
    sources: dict[str, tuple[str, Lines]] = {}
    with tempfile.TemporaryDirectory(prefix="netnice-words.") as folder:
        for path, text in files.items():
            for name, lines in prepared(path, text):
                sources[name] = path, lines
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_text("\n".join(line for _, line in lines), encoding="utf-8")
        if not sources:
            return []
        command = [str(VALE), "--no-global", f"--config={HERE / 'vale.ini'}", "--output=JSON", *sources]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1}:
        sys.exit(f"lint/words.py: Vale failed: {done.stderr or done.stdout}")
    return sorted(
        Breach(path, lines[alert["Line"] - 1][0], alert["Check"], alert["Message"])
        for name, alerts in json.loads(done.stdout).items()
        for path, lines in [sources[name]]
        for alert in alerts
    )


def main() -> str:
    """The breaches. Texts that had none are not read again."""
    files = {path: text for path, text in tracked().items() if not path.startswith(NOT_READ)}
    judges = [Path(__file__), HERE / "vale.ini", *sorted(HERE.glob("vale/*/*.yml"))]
    judge = "".join(file.read_text(encoding="utf-8") for file in judges)
    marks = {path: sha256(f"{judge}\0{path}\0{text}".encode()).hexdigest() for path, text in files.items()}
    clean = set(CLEAN.read_text().split() if CLEAN.exists() else ())
    found = breaches({path: text for path, text in files.items() if marks[path] not in clean})
    dirty = {breach.path for breach in found}
    with contextlib.suppress(OSError):
        CLEAN.write_text("\n".join(mark for path, mark in marks.items() if path not in dirty))
    return "\n".join(f"{path}:{line}: {what}" for path, line, _, what in found)


if __name__ == "__main__":
    sys.exit(main() or 0)
