# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""No module of a crate needs another that needs it; and the search finds one that does."""

from pathlib import Path

import pytest

from lint import circles

ROOT = Path(__file__).resolve().parents[2]
CRATES = circles.crates(ROOT)


def found(source: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        file = source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return circles.told(circles.circle(circles.Crate(source).uses()))


@pytest.mark.parametrize("source", CRATES, ids=lambda source: source.parent.name)
def test_no_modules_need_each_other(source: Path) -> None:
    assert circles.told(circles.circle(circles.Crate(source).uses())) == ""


def test_there_are_crates() -> None:
    assert {"loader", "measure", "netnice", "netnicectl", "path", "prefetch"} <= {
        source.parent.name for source in CRATES
    }


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a.rs": "use crate::b::B;", "b.rs": "fn b() { crate::a::a() }"}, "a -> b -> a"),
        ({"a.rs": "use crate::{b::{self, B}, c};", "b.rs": "use crate::a;", "c.rs": ""}, "a -> b -> a"),
        ({"a/mod.rs": "mod b; use b::B; struct A;", "a/b.rs": "use super::A;"}, "a -> a::b -> a"),
        ({"a.rs": "rows! { b::B, }", "a/b.rs": "use crate::a::print;"}, "a -> a::b -> a"),
        ({"lib.rs": "mod e; pub use e::Error;", "e.rs": "use crate::k;", "k.rs": "use crate::Error;"}, "e -> k -> e"),
        (
            {"a.rs": "use crate::b;", "b.rs": "use crate::c as d;", "c.rs": "fn c() { super::a::a() }"},
            "a -> b -> c -> a",
        ),
    ],
)
def test_a_circle_is_found(tmp_path: Path, files: dict[str, str], told: str) -> None:
    assert found(tmp_path, files) == told


@pytest.mark.parametrize(
    "files",
    [
        {"lib.rs": "mod a; mod b; pub use a::A;", "a.rs": "use crate::b;", "b.rs": "use std::fmt;"},
        {"a.rs": "// crate::b is not used\nuse std::a;", "b.rs": "use crate::a;"},
        {"a.rs": "struct A;\n#[cfg(test)]\nmod tests { use crate::b; }", "b.rs": "use crate::a;"},
        {"a.rs": "struct A;\n#[cfg(test)]\npub mod tests { use crate::b; }", "b.rs": "use crate::a;"},
        {"a.rs": "#[cfg(test)]\nmod tests;", "a/tests.rs": "use super::A; use crate::b;", "b.rs": "use crate::a;"},
        {"a.rs": "pub use b::B;", "a/b.rs": "use crate::a::c;", "a/c.rs": ""},
    ],
)
def test_what_is_no_circle_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    assert found(tmp_path, files) == ""
