# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From a version before: live connections go on, what is new is as the new version has it, and nothing old is left."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness import kernel, older
from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.slow_uploads import SINK, SIZE, received, running_on
from testbed.namespace import wait_until

#: The congestion controls of its levels: as they are called now, and as they were called first.
VERSIONS = {"before-0.1.0": ("netnice", "netnice1", "netnice2"), "the-first": ("nice", "nice1", "nice2")}


@pytest.fixture(params=VERSIONS.values(), ids=[*VERSIONS])
def controls(request: pytest.FixtureRequest, down: dict[int, str]) -> Iterator[tuple[str, ...]]:
    """An older version is up; what its levels run on."""
    names: tuple[str, ...] = request.param
    older.up(names)
    yield names


def test_the_new_one_takes_over(
    new: tuple[set[str], set[str]], controls: tuple[str, ...], down: dict[int, str], netnicectl: Run, netnice: Run
) -> None:
    before = kernel.programs().keys() - down.keys()
    said = netnicectl("up").stdout
    assert said == "up again; what was there was replaced: loaded by another build, version 0.0.1\n"
    assert older.pins() == new
    wait_until(lambda: not before & kernel.programs().keys(), "its programs to go")
    assert netnicectl("up").stdout == "already up\n"
    assert json.loads(netnice(sys.executable, str(PROGRAMS / "gets.py")).stdout) == ["netnice", 4]
    netnicectl("down")
    kernel.assert_nothing_remains(down)


def test_uploads_live_on(
    controls: tuple[str, ...],
    down: dict[int, str],
    netnicectl: Run,
    netnice: Run,
    pair: Pair,
    static_upload: Path,
) -> None:
    """One is left alone, one is put at another level, one is brought back to the foreground."""
    with contextlib.ExitStack() as stack:
        sinks = [stack.enter_context(pair.b.spawn(*SINK, stdout=subprocess.PIPE)) for _ in controls]
        ports = [int(sink.line()) for sink in sinks]
        uploads = [
            stack.enter_context(
                pair.a.spawn(*older.inside(f"level{level}", static_upload, pair.b4, str(port), str(SIZE)))
            )
            for level, port in enumerate(ports)
        ]
        wait_until(lambda: running_on(pair.a, ports) == list(controls), "the uploads")
        netnicectl("up")
        assert running_on(pair.a, ports) == list(controls)
        netnice("-n", "2", "-p", str(uploads[1].pid))
        netnice("-n", "off", "-p", str(uploads[2].pid))
        default = pair.a.run("sysctl", "-n", "net.ipv4.tcp_congestion_control").stdout.strip()
        assert running_on(pair.a, ports) == [controls[0], "netnice2", default]
        # netnice2 has to yield to the other two, on a machine that has nothing but them.
        before = received(pair.b, ports[1])
        wait_until(lambda: received(pair.b, ports[1]) > before, "its data to go on", seconds=15)
        for level in (0, 2):
            uploads[level].wait(timeout=60)
            assert uploads[level].returncode == 0
            assert json.loads(sinks[level].line()) == [SIZE, hashlib.sha256(bytes(SIZE)).hexdigest()]
    netnicectl("down")
    kernel.assert_nothing_remains(down)


def test_the_window_of_a_download_is_let_go(
    controls: tuple[str, ...], down: dict[int, str], netnicectl: Run, pair: Pair
) -> None:
    """What held it is gone, and cannot widen it any more."""
    with pair.b.spawn(sys.executable, PROGRAMS / "pour.py", stdout=subprocess.PIPE) as server:
        fetch: list[str | Path] = [sys.executable, "-u", PROGRAMS / "fetch.py", pair.b4, server.line().strip(), "/"]
        with pair.a.spawn(*older.inside("level0", *fetch), stdout=subprocess.PIPE) as download:
            assert int(download.line()) <= older.HELD
            netnicectl("up")
            wait_until(lambda: int(download.line()) > 1 << 20, "a wide window", process=download)
    netnicectl("down")
    kernel.assert_nothing_remains(down)
