# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""lint/words.py finds what it is for, in prose and nowhere else."""

from pathlib import Path

import pytest

from lint import words
from lint.words import breaches

LONG = "A flow" + " and a flow" * 9 + " yield."


def found(path: str, text: str) -> list[int]:
    """The lines with breaches."""
    return [breach.line for breach in breaches({path: text})]


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("a.md", "# A\n\nA flow\nwho yields.\n\n| nobody | b |\n- theirs\n", [4, 6, 7]),
        ("a.md", "That\nwhich it has.\n", [1]),
        ("a.c", "int a; // who yields\n/*\n * A.\n *\n * Whoever reads\n * it.\n */\n", [1, 5]),
        ("a.rs", '//! a\n//! nobody\n\nfn f() {\n    print("out of the way of other {backups}");\n}\n', [2, 5]),
        ("a.rs", 'let a = "one line and \\\n    somebody";\n', [2]),
        ("a.rs", 'let a = r#"for "everybody" there"#;\n', [1]),
        ("a.py", '"""A.\n\nAnybody else.\n"""\nx = 1  # who is it\n# a\n# nobody\n', [3, 5, 7]),
        ("a/b", "#!/usr/bin/env python3\n# nobody\n", [2]),
        ("setup", "#!/bin/sh\necho nobody # 'who'\n# Whoever reads.\n", [3]),
        ("a.toml", 'a = "who"\n# haste\n', [2]),
    ],
)
def test_a_word_is_found_where_it_is(path: str, text: str, lines: list[int]) -> None:
    assert found(path, text) == lines


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "Users who wait, whose `nobody` is `who`.\n\n```sh\nwho\n```\n[a](#who) <!-- who -->\n"),
        ("a.c", 'int who = 1; char c = \'"\'; char *somebody = "who";\n'),
        ("a.rs", 'fn f() {}\n#[cfg(test)]\nmod tests {\n    const A: &str = "to nobody";\n}\n'),
        ("crates/a/tests/b.rs", 'let a = "to nobody";\n'),
        ("a.py", 'x = "who"\nprint("nobody")\n'),
        ("a.png", "who"),
    ],
)
def test_other_words_are_left_alone(path: str, text: str) -> None:
    assert found(path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.md", f"# A\n\nA. {LONG}\n", 3),
        ("a.c", f"/*\n * A.\n *\n * {LONG}\n */\n", 4),
        ("a.rs", f'fn f() {{\n    print("{LONG}");\n}}\n', 2),
        ("a.rs", "// SPDX-License-Identifier: GPL-2.0\n//! A flow\n" + "//! and a flow\n" * 9, 2),
        ("a.py", f'"""A.\n\n{LONG}\n"""\n', 3),
        ("Makefile", "# A flow\n" + "# and a flow\n" * 9, 1),
    ],
)
def test_a_long_sentence_is_found(path: str, text: str, line: int) -> None:
    assert found(path, text) == [line]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", f"| {'a ' * 20} | {'b ' * 20} |\n| --- | --- |\n| {'a ' * 20} | {'b ' * 20} |\n"),
        ("a.h", "/*\n" + " *   word   a word and a word and a word\n" * 9 + " */\n"),
        ("a.h", "int a; /* a word and a word and a word */\n" * 9),
        ("a.rs", 'let a = "\\\nExit status:\n' + "  0  a word and a word and a word\n" * 9 + '";\n'),
        ("a.rs", 'f("a word and a word and a word");\n' * 9),
    ],
)
def test_rows_are_no_sentence(path: str, text: str) -> None:
    assert found(path, text) == []


@pytest.mark.parametrize("end", ["2 s", "1.4", "its RTT", "`it`", "[a.md](b)", "4"])
def test_a_sentence_ends_where_a_reader_sees_it(end: str) -> None:
    assert found("a.md", f"A flow and{' a flow and' * 6} {end}. Another{' flow and' * 6} ends.\n") == []


def test_a_text_without_a_breach_is_not_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    texts, read = {"a.md": "A flow yields.\n", "b.md": "Nobody yields.\n"}, list[set[str]]()
    judged = words.breaches

    def seen(files: dict[str, str]) -> list[words.Breach]:
        read.append(set(files))
        return judged(files)

    monkeypatch.setattr(words, "CLEAN", tmp_path / "clean")
    monkeypatch.setattr(words, "tracked", lambda: texts)
    monkeypatch.setattr(words, "breaches", seen)
    assert words.main() == words.main() == "b.md:1: 'Nobody': name it: 'no user', 'another program', 'all flows'"
    texts["a.md"] = "A flow who yields.\n"
    assert "a.md:1" in words.main()
    assert read == [{"a.md", "b.md"}, {"b.md"}, {"a.md", "b.md"}]
