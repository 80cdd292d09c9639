# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""lint/words.py finds what it is for, in prose and nowhere else."""

import pytest

from lint.words import blocks, breaches, long_sentences


def found(path: str, text: str) -> list[int]:
    """The lines with breaches."""
    return [number + below for number, block in blocks(path, text) for below, _ in breaches(block)]


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("a.md", "# A\n\nA flow\nwho yields.\n\n| nobody | b |\n- theirs\n", [4, 6, 7]),
        ("a.md", "That\nwhich it has.\n", [1]),
        ("a.c", "int a; // who yields\n/*\n * A.\n *\n * Whoever reads\n * it.\n */\n", [1, 5]),
        ("a.rs", '//! a\n//! nobody\n\nfn f() {\n    print("out of the way of other {backups}");\n}\n', [2, 5]),
        ("a.rs", 'let a = "one line and \\\n    somebody";\n', [1]),
        ("a.rs", 'let a = r#"for "everybody" there"#;\n', [1]),
        ("a.py", '"""A.\n\nAnybody else.\n"""\nx = 1  # who is it\n# a\n# nobody\n', [3, 5, 7]),
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


def test_a_long_sentence_is_found() -> None:
    assert list(long_sentences("A. " + "b " * 26 + "c. D.")) == ["b " * 26 + "c."]
    assert list(long_sentences(f"| {'a ' * 20} | {'b ' * 20} |")) == []
