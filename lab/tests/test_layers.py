# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Who imports whom: no circles between modules, nor between the packages of netnice_lab."""

import ast
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from netnice_lab import places

Graph = dict[str, set[str]]


def module_of(file: Path, top: Path) -> str:
    """a/b/__init__.py is a.b."""
    return ".".join(file.relative_to(top).with_suffix("").parts).removesuffix(".__init__")


def imports(top: Path) -> Graph:
    """What each module under a directory imports of the others, wherever in it."""
    modules = {module_of(file, top): file for file in top.rglob("*.py") if "tests" not in file.parts}
    graph: Graph = {}
    for module, file in modules.items():
        found = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {name for name in inner if name in modules} or {node.module}
        graph[module] = found & modules.keys()
    return graph


def packages(graph: Graph) -> Graph:
    """The same between packages; a module beside them is one of its own."""
    result: Graph = {}
    for module, found in graph.items():
        if module.startswith("netnice_lab."):
            name = module.split(".")[1]
            others = {other.split(".")[1] for other in found if other.startswith("netnice_lab.")}
            result.setdefault(name, set()).update(others - {name})
    return result


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """One circle, if there is any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = imports(places.LAB)
    assert len(graph) > 50
    assert circle(graph) == []


def test_no_package_needs_one_that_needs_it() -> None:
    found = packages(imports(places.LAB))
    assert {"model", "measures", "engine", "judgement", "publishing", "comparison", "commands"} <= found.keys()
    assert circle(found) == []


@pytest.mark.parametrize("late", ["", "def f() -> None:\n    "])
def test_a_circle_is_found(tmp_path: Path, late: str) -> None:
    (tmp_path / "one.py").write_text("import two\n")
    (tmp_path / "two.py").write_text(f"{late}from one import something\n")
    assert set(circle(imports(tmp_path))) == {"one", "two"}
