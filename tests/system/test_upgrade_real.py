# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From a real version before, with its own programs: its processes stay as nice, and its connections go on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from system.harness import kernel, older_build
from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.older import pins
from system.harness.slow_uploads import SINK, SIZE, received, running_on
from testbed.namespace import wait_until

#: The congestion controls of its levels.
CONTROLS = ["nice", "nice1", "nice2"]
UP_AGAIN = "up again; what was there was replaced: loaded by another build, version 0.1.0\n"

pytestmark = pytest.mark.timeout(900)  # the first time it is built


@pytest.fixture(scope="session")
def older() -> dict[str, Path]:
    return older_build.built()


def up(older: dict[str, Path]) -> None:
    subprocess.run([older["netnicectl"], "up"], check=True, capture_output=True)


def goes_on(pair: Pair, port: int) -> None:
    before = received(pair.b, port)
    wait_until(lambda: received(pair.b, port) > before, "its data to go on", seconds=15)


def test_uploads_live_on(
    older: dict[str, Path],
    new: tuple[set[str], set[str]],
    down: dict[int, str],
    netnicectl: Run,
    pair: Pair,
    static_upload: Path,
) -> None:
    """At each level, and who makes them is of that level for the new version, too."""
    up(older)
    before = kernel.programs().keys() - down.keys()
    with contextlib.ExitStack() as stack:
        sinks = [stack.enter_context(pair.b.spawn(*SINK, stdout=subprocess.PIPE)) for _ in CONTROLS]
        ports = [int(sink.line()) for sink in sinks]
        uploads = [
            stack.enter_context(
                pair.a.spawn(older["netnice"], "-n", str(level), static_upload, pair.b4, str(port), str(SIZE))
            )
            for level, port in enumerate(ports)
        ]
        wait_until(lambda: running_on(pair.a, ports) == CONTROLS, "the uploads")
        assert netnicectl("up").stdout == UP_AGAIN
        assert pins() == new
        for level, (upload, port) in enumerate(zip(uploads, ports, strict=True)):
            said = json.loads(netnicectl("explain", "--json", str(upload.pid)).stdout)
            assert (said["in_effect"]["level"], said["in_effect"]["direction"]) == (level, "both")
            goes_on(pair, port)
        uploads[0].wait(timeout=120)  # the others yield to it, and to what they take for it
        assert uploads[0].returncode == 0
        assert json.loads(sinks[0].line()) == [SIZE, hashlib.sha256(bytes(SIZE)).hexdigest()]
        for port in ports[1:]:
            goes_on(pair, port)
    # Its programs go with the last of their connections.
    wait_until(lambda: not before & kernel.programs().keys(), "its programs to go")
    netnicectl("down")
    kernel.assert_nothing_remains(down)


def test_what_its_processes_start_is_as_nice(older: dict[str, Path], down: dict[int, str], netnicectl: Run) -> None:
    """A shell of its, that makes a connection when the new version is there."""
    up(older)
    shell: list[str | Path] = [older["netnice"], "-n", "1", "sh", "-c", 'read line; exec "$@"', "sh"]
    gets: list[str | Path] = [sys.executable, PROGRAMS / "gets.py"]
    with subprocess.Popen([*shell, *gets], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as waits:
        wait_until(lambda: (Path("/proc") / str(waits.pid) / "comm").read_text() == "sh\n", "it to begin")
        assert netnicectl("up").stdout == UP_AGAIN
        assert json.loads(waits.communicate("go\n", timeout=30)[0]) == ["netnice1", 4]
    netnicectl("down")
    kernel.assert_nothing_remains(down)


def test_a_downloads_window_is_let_go(
    older: dict[str, Path], down: dict[int, str], netnicectl: Run, pair: Pair
) -> None:
    """What held it is gone; who receives is in the background still, so that the new one may hold it again."""
    up(older)
    with pair.b.spawn(sys.executable, PROGRAMS / "pour.py", stdout=subprocess.PIPE) as server:
        fetch: list[str | Path] = [sys.executable, "-u", PROGRAMS / "fetch.py", pair.b4, server.line().strip(), "/"]
        with pair.a.spawn(older["netnice"], *fetch, stdout=subprocess.PIPE) as download:
            held = int(download.line())
            assert netnicectl("up").stdout == UP_AGAIN
            wait_until(lambda: int(download.line()) > held, "a wider window", process=download)
    netnicectl("down")
    kernel.assert_nothing_remains(down)
