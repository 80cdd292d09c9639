# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The programs under test, networks of two namespaces, and a machine left as it was found.

netnice stays loaded from one test of a module to the next, and is reset between them. A test whose subject is what is
loaded or counted asks for ``fresh`` or ``down``, a measurement for ``trial``.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from measurements import Measure
from system.harness import kernel, runtime
from system.harness.commands import DROP, PROGRAMS, Done, Pair, Run, netnicectl
from system.harness.path import Trial
from testbed import Namespace, TestbedError, Veth, ownership, program
from testbed.reservation import reserved


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """No other session changes netnice meanwhile. Here, as a fixture's wait would count as its test's time."""
    capture = session.config.pluginmanager.getplugin("capturemanager")
    with contextlib.ExitStack() as stack:
        if not session.config.option.collectonly:
            with capture.global_and_fixture_disabled():
                try:
                    stack.enter_context(reserved("tests/system"))
                except TestbedError as error:
                    pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def machine() -> Iterator[dict[int, str]]:
    """In the end nothing of this session remains; gives what was there before."""
    runtime.sweep()
    netnicectl("down")
    before = kernel.programs()
    yield before
    netnicectl("down")
    kernel.assert_nothing_remains(before, 60)
    assert not list(kernel.cgroup_root().glob(f"netnice-test-{os.getpid()}.slice")), "cgroups of the tests are left"
    assert not list(Path("/run/netns").glob(f"nn-{os.getpid()}-*")), "namespaces of the tests are left"


#: A pin that -p and attach make where it is needed first, and that stays.
_LASTING = "receiver-adopt-root"


class Loaded:
    """netnice in the kernel, as `netnicectl up` leaves it."""

    def __init__(self) -> None:
        self._as_new: tuple[Any, ...] | None = None
        self._options: tuple[str, ...] = ()

    def load(self, *options: str) -> None:
        """Anew."""
        netnicectl("down")
        netnicectl("up", *options)
        self._options, self._as_new = options, self._state()

    def reset(self, *options: str) -> None:
        """As new but for what was counted; loaded anew if it is no more what was loaded then."""
        told = json.loads(netnicectl("status", "--json", check=False).stdout)
        left = bool(told["niceness"] and told["niceness"]["processes"])
        if self._as_new and not left and told["condition"] == "up":
            if json.loads(netnicectl("policy", "show", "--json").stdout):
                netnicectl("policy", "apply", "/dev/null")
            for one in told["attached"]:
                netnicectl("detach", f"/{one['cgroup']}", check=False)
        if left or (options, self._state()) != (self._options, self._as_new):
            self.load(*options)

    def _state(self) -> tuple[Any, ...]:
        """What tells one load from another, and options and parameters from the usual ones."""
        if not kernel.LINKS.is_dir():
            return ()
        pins = {pin.name: pin.stat().st_ino for folder in (kernel.LINKS, kernel.MAPS) for pin in folder.iterdir()}
        pins.pop(_LASTING, None)
        shown = json.loads(netnicectl("show", "--json", check=False).stdout or "{}")
        status = json.loads(netnicectl("status", "--json", check=False).stdout)
        kept = {name: status.get(name) for name in ("condition", "loaded", "same_build", "attached")}
        return pins, shown, kept


@pytest.fixture(scope="module")
def loaded() -> Iterator[Loaded]:
    yield Loaded()
    netnicectl("down")


@pytest.fixture
def down() -> Iterator[dict[int, str]]:
    """Nothing is loaded when the test begins, nor afterwards; gives what connections of others still use."""
    netnicectl("down")
    yield kernel.programs()
    netnicectl("down")


@pytest.fixture
def fresh(down: dict[int, str]) -> dict[int, str]:
    """netnice is loaded anew when the test begins, and gone afterwards."""
    netnicectl("up")
    return down


@pytest.fixture
def up(loaded: Loaded) -> None:
    """netnice is loaded when the test begins, maybe since an earlier one."""
    loaded.reset()


@pytest.fixture
def applications(loaded: Loaded) -> None:
    """The same, for applications too."""
    loaded.reset("--applications")


@pytest.fixture(scope="session")
def new() -> tuple[set[str], set[str]]:
    """The names of the links and maps of an up where nothing was."""
    netnicectl("down")
    netnicectl("up")
    found = kernel.pins()
    netnicectl("down")
    return found


@pytest.fixture
def trial(fresh: object, measure: Measure) -> Trial:
    """Measures beside real traffic."""
    return Trial(measure)


@pytest.fixture
def pair() -> Iterator[Pair]:
    with Namespace("a") as a, Namespace("b") as b, Veth(a, b):
        for namespace, address in ((a, "fd00:6e6e::1"), (b, "fd00:6e6e::2")):
            namespace.run("ip", "addr", "add", f"{address}/64", "dev", "veth0", "nodad")
        yield Pair(a, b, a.address, b.address, "fd00:6e6e::1", "fd00:6e6e::2")


@pytest.fixture(scope="session")
def static_upload() -> Path:
    """programs/upload.c, linked statically, where every user may run it."""
    folder = ownership.scratch("static")
    folder.chmod(0o755)
    binary = folder / "upload"
    compiler = [program("musl-gcc"), "-static", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*compiler, "-o", str(binary), str(PROGRAMS / "upload.c")], check=True)
    return binary


@pytest.fixture(scope="session")
def for_users() -> Path:
    """A folder with programs that users may run: the project's, and ends.py."""
    folder = ownership.scratch("users")
    folder.chmod(0o755)
    for name in ("netnice", "netnicectl"):
        shutil.copy(program(name), folder / name)
    shutil.copy(PROGRAMS / "ends.py", folder)
    return folder


@pytest.fixture
def as_nobody(for_users: Path) -> Run:
    """Runs a program of the project without any rights; ``before`` are words between."""

    def run(name: str, *words: str, before: tuple[str, ...] = ()) -> Done:
        argv = [program(DROP[0]), *DROP[1:], *before, str(for_users / name), *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, cwd=for_users)

    return run
