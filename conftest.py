# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What all tests share: two tiers, measurements, and an interrupt that ends a run in the background too."""

import re
import signal
from pathlib import Path

import pytest

WHOLE_MODULE = re.compile(r"^pytestmark = \[?pytest\.mark\.verify\(", re.MULTILINE)

pytest_plugins = ["measurements"]
# A shell's background jobs ignore SIGINT; programs that the tests start must not inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The tier to run: ``test`` leaves out what is marked ``verify``."""
    parser.addoption("--tier", choices=["test", "verify"], default="test", help="test: the quick tests; verify: all")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "verify(why): runs in the tier verify only; says why not in the quick one")


def pytest_report_header(config: pytest.Config) -> str:
    return f"tier: {config.getoption('tier')}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A module that is marked as a whole is not even imported: what it imports may not be there."""
    if config.getoption("tier") == "verify" or not collection_path.match("test_*.py"):
        return None
    return bool(WHOLE_MODULE.search(collection_path.read_text(encoding="utf-8"))) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("verify")]
    for item in marked:
        mark = item.get_closest_marker("verify")
        if mark is None or len(mark.args) != 1 or not isinstance(mark.args[0], str):
            raise pytest.UsageError(f'{item.nodeid}: say why: @pytest.mark.verify("…")')
    if config.getoption("tier") == "test" and marked:
        items[:] = [item for item in items if item not in marked]
        config.hook.pytest_deselected(items=marked)
