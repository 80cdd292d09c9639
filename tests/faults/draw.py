#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The draw of faults.toml: simple faults on lines of code, in a random order a room.

It reads one commit and no test, so the draw is blind and can be repeated. A room is what is read as one.
"""

import argparse
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
COMMIT, SEED, ALL = "740188473fde", 33, 40
#: Rooms by folder. Left out is what only serves tests: algorithms/host, crates/cores, lint. Left out too are
#: lab/kernel, patches of Linux, and lab/ns3, as no part of the tests has its simulator. The crates units and output go
#: with the change.
ROOMS = (
    *(f"algorithms/{room}" for room in ("common", "estimate", "niceness", "pacing", "receiver", "sender", "siblings")),
    *(f"transport/{room}" for room in ("policy", "receiver", "sender")),
    *(f"crates/{room}" for room in ("build", "fetch", "loader", "manual", "netnice", "netnicectl", "path", "receiver")),
    *(f"apps/{room}" for room in ("measure", "prefetch", "prefetch-predictor", "prefetch-replay")),
    *("bindings/c", "bindings/python", "bindings/rust", "lab/experiments", "lab/guest", "lab/netnice_lab"),
    *("demo", "packaging", "setup.d", "testbed"),
)
FOLDERS = {"setup.d": ("setup.d/", "setup"), "crates/fetch": ("crates/fetch/", "testbed/fetch/")}
TEST = re.compile(r"(^|/)(tests?|benches)(/|\.rs$)|/test_|conftest")
C, RUST, PYTHON, SHELL = "c", "rust", "python", "shell"
LANGUAGES = {".c": C, ".h": C, ".rs": RUST, ".py": PYTHON, ".sh": SHELL, ".postinst": SHELL, ".prerm": SHELL}
#: Comments and strings, which no operator looks into; of shell only comments, since its code is in quotes too.
CURLY = re.compile(r'//[^\n]*|/\*.*?\*/|r#+".*?"#+|"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\'\\\n])\'', re.DOTALL)
PYTHONS = re.compile(r'"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL)
QUIET = {C: CURLY, RUST: CURLY, PYTHON: PYTHONS, SHELL: re.compile(r"(?<![\w$&{])#[^\n]*")}
SKIPPED = re.compile(r"\s*(#\s*(include|if|endif|else|undef|pragma)|(pub )?use |import |from |(echo|printf|say|die)\b)")
MESSAGE = re.compile(r"print|log|say|complain|warn|assert|error\(|set -")
PAIRS = ("< >=", "> <=", "== !=", "&& ||", "and or", "+ -", "+= -=", "min max", "true false", "True False")
OPPOSITE = {one: other for pair in PAIRS for one, other in (pair.split(), pair.split()[::-1])}
CALL = re.compile(r"^\s+(?![.]|return|for|if|while|match|else)[\w.:>()-]*\w\(.*\)\??(;|$)")
OPERATORS = {
    "comparison": re.compile(r"(?<= )(<=?|>=?|==|!=)(?= )"),
    "logic": re.compile(r"(?<=[\w)\]\"?] )(&&|\|\|)(?= )|(?<= )(and|or)(?= )|^\s*(&&|\|\|)(?= )"),
    "negation": re.compile(r"(?<![\w!$])!(?=[\w(&*])|(?<= )! (?=[\w\[-])|(?<!is )\bnot (?!in\b)"),
    "sum": re.compile(r"(?<=[\w)\]] )([+-]=?)(?= )"),
    "constant": re.compile(r"(?<![\w.#$&>-])\d+(?![\w.&]|>)"),
    "return": re.compile(r"(?<=return )(true|false|True|False)\b|^\s+(true|false)$|(?<=^\treturn )[^\d;]+(?=;)"),
    "extreme": re.compile(r"(?<![a-zA-Z])(min|max)(?=\()"),
}


class Candidate(NamedTuple):
    """One line changed; new is empty if the line goes."""

    file: str
    line: int
    operator: str
    old: str
    new: str


def quiet(text: str, language: str) -> str:
    """The code up to the unit tests of a Rust file; comments and strings are blank, columns stay."""
    text = text.partition("\n#[cfg(test)]")[0] if language == RUST else text
    return QUIET[language].sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def changed(operator: str, word: str) -> str:
    """What an operator makes of a word."""
    if operator == "constant":
        return str(int(word) * 2 if int(word) > 9 else int(word) + 1)
    return OPPOSITE.get(word, "0" if operator == "return" else "")


def candidates(file: str, text: str, language: str) -> Iterator[Candidate]:
    """The faults that a file can have."""
    before, lines = "", zip(text.splitlines(), quiet(text, language).splitlines(), strict=False)
    for number, (line, code) in enumerate(lines, 1):
        begins = before.rstrip().endswith((";", "{", "}", ":", ")")) or not before.strip()
        before = code
        if SKIPPED.match(line) or "static_assert" in code.lower():
            continue
        complete = code.count("(") == code.count(")") and (language == PYTHON) != code.rstrip().endswith(";")
        if begins and complete and language != SHELL and CALL.match(code) and not MESSAGE.search(code):
            yield Candidate(file, number, "call", line, "")
        for operator, pattern in OPERATORS.items():
            for match in pattern.finditer(code):
                found = next((i for i in range(1, pattern.groups + 1) if match[i]), 0)
                new = line[: match.start(found)] + changed(operator, match[found]) + line[match.end(found) :]
                yield Candidate(file, number, operator, line, new)


def git(*words: str) -> str:
    """What git says of the clone."""
    return subprocess.run(["git", "-C", TOP, *words], check=True, capture_output=True, text=True).stdout


def language_of(file: str, text: str) -> str | None:
    """By the name, or by the first line."""
    first = text.partition("\n")[0]
    return LANGUAGES.get(Path(file).suffix) or (PYTHON if "python" in first else SHELL if first[:2] == "#!" else None)


def draw() -> tuple[dict[str, int], dict[str, list[Candidate]]]:
    """Lines of code of each room, and its faults in the order drawn: an operator of those it has, then one of its."""
    sizes: dict[str, int] = defaultdict(int)
    orders: dict[str, list[Candidate]] = {}
    files = [file for file in git("ls-tree", "-r", "--name-only", COMMIT).split() if not TEST.search(file)]
    for room in ROOMS:
        kinds: dict[str, list[Candidate]] = defaultdict(list)
        for file in sorted(file for file in files if file.startswith(FOLDERS.get(room, (f"{room}/",)))):
            text = git("show", f"{COMMIT}:{file}")
            if language := language_of(file, text):
                sizes[room] += sum(1 for line in quiet(text, language).splitlines() if line.strip())
                for one in sorted(candidates(file, text, language)):
                    kinds[one.operator].append(one)
        chance, orders[room] = random.Random(f"{SEED} {room}"), []
        while left := sorted(operator for operator, found in kinds.items() if found):
            found = kinds[chance.choice(left)]
            orders[room].append(found.pop(chance.randrange(len(found))))
    return sizes, orders


def quotas(sizes: dict[str, int]) -> dict[str, int]:
    """How many faults each room has: one, and of what is left its share by size, the largest remainders first."""
    share = {room: size * (ALL - len(sizes)) / sum(sizes.values()) for room, size in sizes.items()}
    given = {room: 1 + int(part) for room, part in share.items()}
    for room in sorted(share, key=lambda one: share[one] % 1, reverse=True)[: ALL - sum(given.values())]:
        given[room] += 1
    return given


def main() -> None:
    """Prints the draw."""
    parser = argparse.ArgumentParser(description="Prints how many faults each room has, and the order drawn.")
    parser.add_argument("--room", choices=ROOMS, help="of this room only")
    parser.add_argument("--first", type=int, default=3, help="how many faults of each order (3)")
    arguments, (sizes, orders) = parser.parse_args(), draw()
    for room, count in quotas(sizes).items():
        if arguments.room in (None, room):
            print(f"{room}: {sizes[room]} lines, {len(orders[room])} possible faults, {count} drawn")
            for place, one in enumerate(orders[room][: arguments.first], 1):
                print(
                    f"  {place} {one.operator} {one.file}:{one.line}\n    - {one.old.strip()}\n    + {one.new.strip()}"
                )


if __name__ == "__main__":
    main()
