# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The linters of the tree find what they are for."""

from pathlib import Path

import pytest

from faults.run import rows
from lint.circles import Crate, c_files, circle, packages, python_modules
from lint.links import anchors, check
from lint.tree import breaches

DUAL = "// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause\n"
SCREEN = "sudo netnice rsync\n| a | b |\n| --- | ---: |\n./setup demo\n./setup test\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("crates/a/src/main.rs", "fn main() {}\n"),
        ("tests/run", "#!/bin/sh\ntrue\n"),
        ("crates/a/src/main.rs", "// SPDX-License-Identifier: MIT\n"),
        ("transport/policy/policy.bpf.c", DUAL),
        ("crates/a/src/main.rs", "// SPDX-License-Identifier: GPL-2.0\n"),
        ("a.c", "\n" * 9 + DUAL),
        ("a.rs", DUAL + "x\n" * 400),
        ("algorithms/sender/a.h", DUAL + "x\n" * 250),
        ("algorithms/sender/nice.h", DUAL + "x\n" * 120),
        ("README.md", SCREEN + "| a | b | c | d | e |\n"),
        ("README.md", SCREEN.replace("./setup test", "")),
        ("CHANGELOG.md", "# 1.0\n"),
        ("a.md", "one day // TO" + "DO\n"),
        ("README.md", SCREEN + "cd /ro" + "ot/netnice\n"),
        ("a.py", DUAL + "open('/ho" + "me/someone/x')\n"),
        ("a.rs", DUAL + "    #[ign" + "ore]\n"),
        ("a.rs", DUAL + "fn main() {}"),
    ],
)
def test_a_breach_is_found(path: str, text: str) -> None:
    assert len(list(breaches(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("algorithms/a.h", "/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */\n" + "x\n" * 249),
        ("transport/policy/policy.bpf.c", "// SPDX-License-Identifier: GPL-2.0\n"),
        ("docs/README.md", "no code\n| a | b | c | d | e |\n"),
        ("README.md", SCREEN + "\n" * 40 + "| a | b | c | d | e |\n"),
        ("CHANGELOG.md", "## [Unreleased]\n"),
        ("table.csv", "x\n" * 4000),
        ("a.rs", DUAL + "todo_list = mastodon\n" * 399),
        ("a.sh", "# " + DUAL + "cd ${x}/ro" + "ot/b $HOME/wo" + "rk/c\n"),
        ("empty.txt", ""),
    ],
)
def test_good_text_is_left_alone(path: str, text: str) -> None:
    assert list(breaches(path, text)) == []


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "members"),
    [
        ({"a.rs": "use crate::b::B;", "b.rs": "fn b() { crate::a::a() }"}, {"a", "b"}),
        ({"a.rs": "use crate::{b::{self, B}, c};", "b.rs": "use crate::a;", "c.rs": ""}, {"a", "b"}),
        ({"a/mod.rs": "mod b; use b::B; struct A;", "a/b.rs": "use super::A;"}, {"a", "a::b"}),
        ({"a.rs": "rows! { b::B, }", "a/b.rs": "use crate::a::print;"}, {"a", "a::b"}),
        ({"lib.rs": "mod e; pub use e::Error;", "e.rs": "use crate::k;", "k.rs": "use crate::Error;"}, {"e", "k"}),
        (
            {"a.rs": "use crate::b;", "b.rs": "use crate::c as d;", "c.rs": "fn c() { super::a::a() }"},
            {"a", "b", "c"},
        ),
        ({"lib.rs": "mod a; mod b; pub use a::A;", "a.rs": "use crate::b;", "b.rs": "use std::fmt;"}, set()),
        ({"a.rs": "// crate::b is not used\nuse std::a;", "b.rs": "use crate::a;"}, set()),
        ({"a.rs": "struct A;\n#[cfg(test)]\nmod tests { use crate::b; }", "b.rs": "use crate::a;"}, set()),
        ({"a.rs": "struct A;\n#[cfg(test)]\npub mod tests { use crate::b; }", "b.rs": "use crate::a;"}, set()),
        ({"a.rs": "#[cfg(test)]\nmod tests;", "a/tests.rs": "use super::A; use crate::b;", "b.rs": "use crate::a;"},
         set()),
        ({"a.rs": "pub use b::B;", "a/b.rs": "use crate::a::c;", "a/c.rs": ""}, set()),
    ],
)  # fmt: skip
def test_circles_of_rust(tmp_path: Path, files: dict[str, str], members: set[str]) -> None:
    assert set(circle(Crate(written(tmp_path, files)).uses()).split(" -> ")) - {""} == members


def test_circles_of_c(tmp_path: Path) -> None:
    found = c_files(written(tmp_path, {"a/one.h": '#include "../b/two.h"\n', "b/two.h": '# include "../a/one.h"\n'}))
    assert set(circle(found).split(" -> ")) == {"a/one.h", "b/two.h"}


@pytest.mark.parametrize("late", ["", "def f() -> None:\n    "])
def test_circles_of_python(tmp_path: Path, late: str) -> None:
    files = {"lab/one.py": "import two\n", "two/__init__.py": f"{late}from one import something\n"}
    assert circle(python_modules(written(tmp_path, files))) in {"one -> two -> one", "two -> one -> two"}


def test_circles_of_python_packages(tmp_path: Path) -> None:
    files = {"a/b/x.py": "from a.c import y\n", "a/c/y.py": "", "a/c/z.py": "import a.b.w\n", "a/b/w.py": ""}
    found = python_modules(written(tmp_path, files))
    assert circle(found) == ""
    assert set(circle(packages(found)).split(" -> ")) == {"a.b", "a.c"}


GOOD = {
    "README.md": "# One `two`\n[a](docs/a.md#three--four) [b](#one-two) [c](docs) `[e](f.md)`\n",
    "docs/a.md": "# Three – four\n[d](https://nowhere/x.md) [a](../README.md)\n```\n# five\n[g](h.md)\n```\n",
    "a.c": "/* docs/a.md#three--four */",
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", "[a](docs/b.md)\n"),
        ("README.md", "[a](docs/a.md#five)\n"),
        ("README.md", "![a](a.png)\n"),
        ("README.md", "[a]: docs/b.md\n"),
        ("docs/a.md", "[a](#four)\n"),
        ("docs/a.md", "[a](../../b/c.md)\n"),
        ("a.rs", '"see docs/b.md"\n'),
        ("a.rs", '"see docs/a.md#five"\n'),
    ],
)
def test_a_link_to_nowhere_is_found(path: str, text: str) -> None:
    assert list(check(GOOD, set())) == []
    assert len(list(check(GOOD | {path: GOOD.get(path, "") + text}, set()))) == 1


def test_anchors_of_one_heading_twice() -> None:
    assert anchors('# A\n## A\n<a id="b"></a>\n') == {"a", "a-1", "b"}


def test_each_fault_finds_its_line() -> None:
    top = Path(__file__).resolve().parents[2]
    assert all(fault.place(top).is_file() for fault in rows())
