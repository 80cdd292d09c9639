# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From a version before: live connections go on, what is new is as the new version has it, and nothing old is left."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from system.harness import kernel, older
from system.harness.commands import Pair, end, name, netnice, netnicectl
from system.harness.older import SINK, SIZE, received, running_on
from testbed.namespace import wait_until

#: The congestion controls of its levels: as they are called now, and as they were called first.
VERSIONS = {"before-0.1.0": ("netnice", "netnice1", "netnice2"), "the-first": ("nice", "nice1", "nice2")}


@pytest.fixture(params=VERSIONS.values(), ids=[*VERSIONS])
def controls(request: pytest.FixtureRequest, down: dict[int, str]) -> Iterator[tuple[str, ...]]:
    """An older version is up; what its levels run on."""
    names: tuple[str, ...] = request.param
    older.up(names)
    yield names


def goes_on(pair: Pair, port: int) -> None:
    before = received(pair.b, port)
    wait_until(lambda: received(pair.b, port) > before, "its data to go on", seconds=15)


def test_the_new_one_takes_over(
    new: tuple[set[str], set[str]], controls: tuple[str, ...], down: dict[int, str]
) -> None:
    before = kernel.programs().keys() - down.keys()
    said = netnicectl("up").stdout
    assert said == "up again; what was there was replaced: loaded by another build, version 0.0.1\n"
    assert kernel.pins() == new
    wait_until(lambda: not before & kernel.programs().keys(), "its programs to go")
    assert netnicectl("up").stdout == "already up\n"
    assert json.loads(netnice(*end("gets")).stdout) == ["netnice", 4]
    netnicectl("down")
    kernel.assert_nothing_remains(down)


def test_uploads_live_on(controls: tuple[str, ...], down: dict[int, str], pair: Pair, static_upload: Path) -> None:
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
        goes_on(pair, ports[1])
        for level in (0, 2):
            uploads[level].wait(timeout=60)
            assert uploads[level].returncode == 0
            assert json.loads(sinks[level].line()) == [SIZE, hashlib.sha256(bytes(SIZE)).hexdigest()]
    netnicectl("down")
    kernel.assert_nothing_remains(down)


def test_the_window_of_a_download_is_let_go(controls: tuple[str, ...], down: dict[int, str], pair: Pair) -> None:
    """What held it is gone, and cannot widen it any more."""
    with pair.end(pair.b, "pour") as server:
        words = ("fetch", pair.b4, server.line().strip(), "/")
        with pair.end(pair.a, *words, first=older.inside("level0")) as download:
            assert int(download.line()) <= older.HELD
            netnicectl("up")
            wait_until(lambda: int(download.line()) > 1 << 20, "a wide window", process=download)
    netnicectl("down")
    kernel.assert_nothing_remains(down)


@pytest.fixture(scope="session")
def built() -> dict[str, Path]:
    return older.built()


def come_up(built: dict[str, Path]) -> None:
    subprocess.run([built["netnicectl"], "up"], check=True, capture_output=True)


@pytest.mark.verify("the older version is built first")
@pytest.mark.timeout(900)
class TestReal:
    """A real version before, with its own programs: its processes stay as nice, and its connections go on."""

    CONTROLS: ClassVar = ["nice", "nice1", "nice2"]
    UP_AGAIN = "up again; what was there was replaced: loaded by another build, version 0.1.0\n"

    def test_uploads_live_on(
        self,
        built: dict[str, Path],
        new: tuple[set[str], set[str]],
        down: dict[int, str],
        pair: Pair,
        static_upload: Path,
    ) -> None:
        """At each level, and the process that makes them has that level in the new version, too."""
        come_up(built)
        before = kernel.programs().keys() - down.keys()
        with contextlib.ExitStack() as stack:
            sinks = [stack.enter_context(pair.b.spawn(*SINK, stdout=subprocess.PIPE)) for _ in self.CONTROLS]
            ports = [int(sink.line()) for sink in sinks]
            uploads = [
                stack.enter_context(
                    pair.a.spawn(built["netnice"], "-n", str(level), static_upload, pair.b4, str(port), str(SIZE))
                )
                for level, port in enumerate(ports)
            ]
            wait_until(lambda: running_on(pair.a, ports) == self.CONTROLS, "the uploads")
            assert netnicectl("up").stdout == self.UP_AGAIN
            assert kernel.pins() == new
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

    def test_what_its_processes_start_is_as_nice(self, built: dict[str, Path], down: dict[int, str]) -> None:
        """A shell of its, that makes a connection when the new version is there."""
        come_up(built)
        shell: list[str | Path] = [built["netnice"], "-n", "1", "sh", "-c", 'read line; exec "$@"', "sh"]
        with subprocess.Popen(
            [*shell, *end("gets")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as waits:
            wait_until(lambda: name(waits.pid) == "sh", "it to begin")
            assert netnicectl("up").stdout == self.UP_AGAIN
            assert json.loads(waits.communicate("go\n", timeout=30)[0]) == ["netnice1", 4]
        netnicectl("down")
        kernel.assert_nothing_remains(down)

    def test_a_downloads_window_is_let_go(self, built: dict[str, Path], down: dict[int, str], pair: Pair) -> None:
        """What held it is gone; the receiver is in the background still, so that the new one may hold it again."""
        come_up(built)
        with pair.end(pair.b, "pour") as server:
            words = ("fetch", pair.b4, server.line().strip(), "/")
            with pair.end(pair.a, *words, first=[str(built["netnice"])]) as download:
                held = int(download.line())
                assert netnicectl("up").stdout == self.UP_AGAIN
                wait_until(lambda: int(download.line()) > held, "a wider window", process=download)
        netnicectl("down")
        kernel.assert_nothing_remains(down)
