# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The programs under test, networks of two namespaces, and a machine left as it was found."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness import kernel, older
from system.harness.commands import PROGRAMS, Done, Pair, Run, call
from testbed import Namespace, Veth, ownership, program


@pytest.fixture
def netnice() -> Run:
    return lambda *words, **options: call("netnice", *words, **options)


@pytest.fixture
def netnicectl() -> Run:
    return lambda *words, **options: call("netnicectl", *words, **options)


@pytest.fixture
def down() -> Iterator[dict[int, str]]:
    """Nothing is loaded when the test begins, nor afterwards; gives what connections of others still use."""
    call("netnicectl", "down")
    yield kernel.programs()
    call("netnicectl", "down")


@pytest.fixture
def new(down: dict[int, str]) -> tuple[set[str], set[str]]:
    """The names of the links and maps of an up where nothing was; it is down again."""
    call("netnicectl", "up")
    found = older.pins()
    call("netnicectl", "down")
    return found


@pytest.fixture
def up(down: dict[int, str]) -> dict[int, str]:
    """netnice is loaded when the test begins."""
    call("netnicectl", "up")
    return down


@pytest.fixture
def pair() -> Iterator[Pair]:
    with Namespace("a") as a, Namespace("b") as b, Veth(a, b):
        for namespace, address in ((a, "fd00:6e6e::1"), (b, "fd00:6e6e::2")):
            namespace.run("ip", "addr", "add", f"{address}/64", "dev", "veth0", "nodad")
        yield Pair(a, b, a.address, b.address, "fd00:6e6e::1", "fd00:6e6e::2")


@pytest.fixture(scope="session")
def static_upload() -> Path:
    """programs/upload.c, linked statically, where everybody may run it."""
    folder = ownership.scratch("static")
    folder.chmod(0o755)
    binary = folder / "upload"
    compiler = [program("musl-gcc"), "-static", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*compiler, "-o", str(binary), str(PROGRAMS / "upload.c")], check=True)
    return binary


@pytest.fixture
def as_nobody() -> Run:
    """Runs a program of the project without any rights, from a folder that nobody may enter."""
    folder = ownership.scratch("nobody")
    folder.chmod(0o755)
    for name in ("netnice", "netnicectl"):
        shutil.copy(program(name), folder / name)

    def run(name: str, *words: str) -> Done:
        drop = [program("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        return subprocess.run(
            [*drop, str(folder / name), *words], capture_output=True, text=True, timeout=60, check=False
        )

    return run
