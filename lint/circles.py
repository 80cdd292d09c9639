# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Modules of a Rust crate that need each other in a circle: none can be read, tested or changed alone.

What a module uses is what its file names by ``crate::``, ``super::`` or a module of its own. A name that a module only
passes on (``pub use``) belongs to where it comes from. Modules for tests count for nothing.
"""

import re
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]
Uses = dict[Module, set[Module]]

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?mod \w+ \{.*\Z", re.DOTALL)
TESTS_IN_A_FILE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?mod (\w+);")
USE = re.compile(r"(\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])(?:crate|super|self|[a-z]\w*)(?:::\w+)+")


def leaves(tree: str) -> Iterator[tuple[str, ...]]:
    """The paths of a ``use``: ``a::{b, c::d as e}`` has a::b and a::c::d, the latter known as e."""
    tree = " ".join(tree.split())
    if "{" not in tree:
        path, _, alias = tree.partition(" as ")
        parts = tuple(path.strip().split("::"))
        yield (*parts, alias) if alias else (*parts, parts[-1])
        return
    head, _, rest = tree.partition("{")
    depth, part = 0, ""
    for letter in rest.rpartition("}")[0] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if part.strip():
                for leaf in leaves(part):
                    named = leaf[:-2] if leaf[-2:-1] == ("self",) else leaf[:-1]
                    before = tuple(word for word in head.strip().split("::") if word)
                    whole = (*before, *named)
                    yield (*whole, leaf[-1] if leaf[-1] != "self" else whole[-1])
            part = ""
        else:
            part += letter


class Crate:
    """The modules of one crate, and which of them uses which."""

    def __init__(self, source: Path) -> None:
        self.text: dict[Module, str] = {}
        skipped: set[Module] = set()
        for file in sorted(source.rglob("*.rs")):
            name = file.relative_to(source).with_suffix("").parts
            if name[-1] in {"mod", "lib", "main"}:
                name = name[:-1]
            text = COMMENT.sub("", file.read_text())
            skipped |= {(*name, word) for word in TESTS_IN_A_FILE.findall(text)}
            self.text[name] = self.text.get(name, "") + TESTS.sub("", text)
        for module in list(self.text):
            if any(module[: len(test)] == test for test in skipped):
                del self.text[module]
        self.passed = {module: self._passed_on(module) for module in self.text}

    def _passed_on(self, module: Module) -> dict[str, tuple[str, ...]]:
        """Names that others find here though they come from elsewhere."""
        uses = (leaf for public, tree in USE.findall(self.text[module]) if public for leaf in leaves(tree))
        return {leaf[-1]: leaf[:-1] for leaf in uses}

    def resolve(self, module: Module, path: tuple[str, ...]) -> Module | None:
        """The module that a path, as written in another, leads to."""
        here, rest = module, list(path)
        if rest[0] == "crate":
            here, rest = (), rest[1:]
        elif rest[0] in {"super", "self"}:
            while rest and rest[0] in {"super", "self"}:
                here = here[:-1] if rest.pop(0) == "super" else here
        elif (*here, rest[0]) not in self.text:
            return None
        while rest:
            word = rest.pop(0)
            if (*here, word) in self.text:
                here = (*here, word)
            elif origin := self.passed.get(here, {}).get(word):
                return self.resolve(here, (*origin, *rest))
            else:
                break
        return here

    def uses(self) -> Uses:
        """Of each module those that it names, itself apart."""
        found: Uses = {module: set() for module in self.text}
        for module, text in self.text.items():
            private = [leaf[:-1] for public, tree in USE.findall(text) if not public for leaf in leaves(tree)]
            inline = [tuple(path.split("::")) for path in PATH.findall(USE.sub("", text))]
            targets = {self.resolve(module, path) for path in (*private, *inline)}
            found[module] = {target for target in targets if target is not None} - {module}
        return found


def circle(uses: Uses) -> list[Module]:
    """One circle, the first again at its end; empty if there is none."""
    done: set[Module] = set()

    def walk(module: Module, way: list[Module]) -> list[Module]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module in done:
            return []
        for target in sorted(uses.get(module, ())):
            if found := walk(target, [*way, module]):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(uses) if (found := walk(module, []))), [])


def crates(root: Path) -> list[Path]:
    """The source folders of the crates of the workspace."""
    manifests = (*root.glob("crates/*/Cargo.toml"), *root.glob("apps/*/Cargo.toml"), root / "bindings/rust/Cargo.toml")
    return sorted(path.parent / "src" for path in manifests if (path.parent / "src").is_dir())


def told(found: list[Module]) -> str:
    """A circle as text: a -> b::c -> a."""
    return " -> ".join("::".join(module) or "the root" for module in found)
