# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Files that need each other in a circle: none of them can be read, tested or changed alone. Prints each circle.

C: what a file includes. Python: what a module imports, wherever in it. Rust: what a module names by ``crate::``,
``super::`` or a module of its own. A name that a module only passes on (``pub use``) belongs to the module that has it.
Modules for tests do not count.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?mod \w+ \{.*\Z", re.DOTALL)
TESTS_IN_A_FILE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?mod (\w+);")
USE = re.compile(r"(\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])(?:crate|super|self|[a-z]\w*)(?:::\w+)+")

PYTHON_ROOTS = ("lab", "tests")
CRATES = ("apps", "bindings", "crates", "testbed")

Words = tuple[str, ...]
Graph = dict[str, set[str]]


def files(top: Path, *suffixes: str) -> Iterator[Path]:
    """Files of a tree, but what was built in it."""
    for folder, below, names in os.walk(top):
        below[:] = [name for name in below if name not in {".git", "target"}]
        yield from (Path(folder, name) for name in names if name.endswith(suffixes))


def c_files(top: Path) -> Graph:
    """Of each C file those that it includes."""
    text = {str(file.relative_to(top)): file.read_text(encoding="utf-8") for file in files(top, ".h", ".c", ".cc")}
    return {
        name: {os.path.normpath(Path(name).parent / path) for path in INCLUDE.findall(text[name])} & text.keys()
        for name in text
    }


def python_modules(top: Path) -> Graph:
    """Of each Python module, named as from its root, those that it imports."""
    found = {}
    for file in files(top, ".py"):
        words = file.relative_to(top).with_suffix("").parts
        found[".".join(words[words[0] in PYTHON_ROOTS :]).removesuffix(".__init__")] = file
    graph: Graph = {}
    for name, file in found.items():
        used: set[str] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= (inner & found.keys()) or {node.module}
        graph[name] = used & found.keys()
    return graph


def packages(graph: Graph) -> Graph:
    """A graph of Python modules, by the first two words of their names; a folder of experiments is no layer."""
    short = {name: name if name.startswith("experiments.") else ".".join(name.split(".")[:2]) for name in graph}
    result: Graph = {}
    for name, used in graph.items():
        result.setdefault(short[name], set()).update({short[other] for other in used} - {short[name]})
    return result


def leaves(tree: str) -> Iterator[tuple[Words, str]]:
    """The paths of a ``use`` and their names: ``a::{b, c::d as e}`` has a::b, known as b, and a::c::d, known as e."""
    tree = " ".join(tree.split())
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = tree.partition(" as ")
        words = tuple(word for word in path.strip().split("::") if word)
        words = words[:-1] if words[-1:] == ("self",) and len(words) > 1 else words
        yield words, alias or words[-1]
        return
    depth, part = 0, ""
    for letter in rest.rpartition("}")[0] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if part.strip():
                yield from leaves(head + part.strip())
            part = ""
        else:
            part += letter


class Crate:
    """The modules of a crate, and what each passes on."""

    def __init__(self, source: Path) -> None:
        self.text: dict[Words, str] = {}
        tests: set[Words] = set()
        for file in sorted(source.rglob("*.rs")):
            name = file.relative_to(source).with_suffix("").parts
            name = name[:-1] if name[-1] in {"mod", "lib", "main"} else name
            text = COMMENT.sub("", file.read_text(encoding="utf-8"))
            tests |= {(*name, word) for word in TESTS_IN_A_FILE.findall(text)}
            self.text[name] = self.text.get(name, "") + TESTS.sub("", text)
        self.text = {m: text for m, text in self.text.items() if not any(m[: len(t)] == t for t in tests)}
        self.passed = {
            module: {name: path for public, tree in USE.findall(text) if public for path, name in leaves(tree)}
            for module, text in self.text.items()
        }

    def resolve(self, module: Words, path: Words) -> Words | None:
        """The module that a path, as written in another, leads to."""
        here, rest = module, list(path)
        if rest[0] == "crate":
            here, rest = (), rest[1:]
        elif rest[0] not in {"super", "self"} and (*here, rest[0]) not in self.text:
            return None
        while rest:
            word = rest.pop(0)
            if word == "super":
                here = here[:-1]
            elif (*here, word) in self.text:
                here = (*here, word)
            elif word != "self":
                origin = self.passed.get(here, {}).get(word)
                return self.resolve(here, (*origin, *rest)) if origin else here
        return here

    def uses(self) -> Graph:
        """Of each module those that it names, itself apart."""
        found = {}
        for module, text in self.text.items():
            private = [path for public, tree in USE.findall(text) if not public for path, _ in leaves(tree)]
            inline = [tuple(path.split("::")) for path in PATH.findall(USE.sub("", text))]
            targets = {self.resolve(module, path) for path in (*private, *inline)} - {module, None}
            found[told(module)] = {told(target) for target in targets if target is not None}
        return found


def told(module: Words) -> str:
    """A module as text."""
    return "::".join(module) or "the root"


def circle(graph: Graph) -> str:
    """One circle, its first again at its end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " -> ".join(reversed(error.args[1]))
    return ""


def graphs(top: Path) -> Iterator[Graph]:
    """What is searched: C and Python as a whole, each crate by itself."""
    yield c_files(top)
    modules = python_modules(top)
    yield modules
    yield packages(modules)
    yield from (Crate(source).uses() for room in CRATES for source in top.glob(f"{room}/*/src"))


if __name__ == "__main__":
    found = [*graphs(TOP)]
    assert all(found), "an empty graph: the search missed a room"
    sys.exit("\n".join(f"a circle: {told}" for told in map(circle, found) if told) or 0)
