# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Real programs, unmodified, are on nice: the kernel's own tables say so while they send."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness.commands import DROP, Pair, end, runs_on
from system.harness.ssh import Sshd
from testbed import Capture, Namespace, Process, ownership, program
from testbed.namespace import free_port, listens, wait_until
from testbed.servers import random_file

pytestmark = pytest.mark.usefixtures("up")

SIZE = 12 << 20


def seen(namespace: Namespace, process: Process, *, seconds: float = 60, **ports: int) -> set[str]:
    """The congestion controls of the established connections on a port until the program ends."""
    found: set[str] = set()
    deadline = time.monotonic() + seconds
    while process.running():
        assert time.monotonic() < deadline, f"{process.argv} did not end; on {found}"
        found |= set(runs_on(namespace, **ports))
    _, err = process.wait()
    assert process.returncode == 0, err
    return found


def sink(namespace: Namespace) -> tuple[Process, int]:
    process = namespace.spawn(*end("sink", "20e6"), stdout=subprocess.PIPE)
    return process, int(process.line())


def random_data(label: str) -> Path:
    folder = ownership.scratch(label)
    random_file(folder / "data", SIZE)
    return folder / "data"


class TestUploads:
    def test_curl(self, pair: Pair) -> None:
        server = pair.end(pair.b, "put")
        port = int(server.line())
        data = random_data("curl")
        words = ["curl", "-sST", str(data), f"http://{pair.b4}:{port}/"]
        assert seen(pair.a, pair.a.spawn("netnice", *words, "--limit-rate", "20M"), peer=port) == {"netnice"}
        assert int(server.line()) == SIZE

    def test_a_static_binary(self, pair: Pair, static_upload: Path) -> None:
        headers = subprocess.run([program("readelf"), "-l", static_upload], check=True, capture_output=True, text=True)
        assert "INTERP" not in headers.stdout
        process, port = sink(pair.b)
        upload = pair.a.spawn("netnice", static_upload, pair.b4, str(port), str(SIZE))
        assert seen(pair.a, upload, peer=port) == {"netnice"}
        assert json.loads(process.line())[0] == SIZE

    def test_a_program_that_forks(self, pair: Pair, static_upload: Path) -> None:
        _, port = sink(pair.b)
        upload = pair.a.spawn(
            "netnice", "sh", "-c", '"$@" & wait $!', "sh", static_upload, pair.b4, str(port), str(SIZE)
        )
        assert seen(pair.a, upload, peer=port) == {"netnice"}

    def test_without_netnice_it_is_not(self, pair: Pair, static_upload: Path) -> None:
        _, port = sink(pair.b)
        upload = pair.a.spawn(static_upload, pair.b4, str(port), str(SIZE))
        assert seen(pair.a, upload, peer=port) == {"cubic"}

    def test_a_program_that_asks_for_it(self, pair: Pair, static_upload: Path) -> None:
        _, port = sink(pair.b)
        upload = pair.a.spawn(*DROP, static_upload, pair.b4, str(port), str(SIZE), "netnice")
        assert seen(pair.a, upload, peer=port) == {"netnice"}


class TestIperf3:
    def test_a_client_that_sends(self, pair: Pair) -> None:
        with self.server(pair.b) as server:
            port = server_port(server)
            client = pair.a.spawn("netnice", "iperf3", "-c", pair.b4, "-p", str(port), "-t", "1")
            assert seen(pair.a, client, peer=port) == {"netnice"}

    def test_a_server_that_sends(self, pair: Pair) -> None:
        with self.server(pair.b, "netnice") as server:
            port = server_port(server)
            client = pair.a.spawn("iperf3", "-c", pair.b4, "-p", str(port), "-t", "1", "-R")
            assert seen(pair.b, client, local=port) == {"netnice"}

    def server(self, namespace: Namespace, *first: str) -> Process:
        port = free_port(namespace)
        process = namespace.spawn(*first, "iperf3", "-s", "-p", str(port))
        wait_until(lambda: listens(namespace, port), "iperf3 to listen", process=process)
        return process


def server_port(process: Process) -> int:
    return int(process.argv[process.argv.index("-p") + 1])


@pytest.fixture
def sshd(pair: Pair) -> Iterator[Sshd]:
    with Sshd(pair.b) as server:
        yield server


class TestOverSsh:
    def test_rsync(self, pair: Pair, sshd: Sshd) -> None:
        data, to = random_data("rsync"), ownership.scratch("rsync-to")
        upload = pair.a.spawn("netnice", "rsync", "-e", sshd.command, str(data), f"root@{pair.b4}:{to}/")
        assert seen(pair.a, upload, peer=sshd.port) == {"netnice"}
        assert (to / "data").read_bytes() == data.read_bytes()

    def test_git_push(self, pair: Pair, sshd: Sshd) -> None:
        work, bare = random_data("git").parent, ownership.scratch("git-to")
        git = ["git", "-C", str(work), "-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", "init", "-q", "--bare", bare], check=True)
        for words in (["init", "-q"], ["add", "data"], ["commit", "-qm", "data"]):
            subprocess.run([*git, *words], check=True)
        url = f"ssh://root@{pair.b4}{bare}"
        push = pair.a.spawn("netnice", *git, "push", "-q", url, "HEAD:main", env={"GIT_SSH_COMMAND": sshd.command})
        assert seen(pair.a, push, peer=sshd.port) == {"netnice"}
        head = subprocess.run(["git", "-C", bare, "cat-file", "-t", "main"], capture_output=True, text=True, check=True)
        assert head.stdout == "commit\n"


def test_the_mark_is_on_the_wire(pair: Pair, static_upload: Path) -> None:
    with Capture(pair.b) as capture:
        _, port = sink(pair.b)
        pair.a.run("netnice", static_upload, pair.b4, str(port), "100000")
        _, plain = sink(pair.b)
        pair.a.run(static_upload, pair.b4, str(plain), "100000")
    # The mark comes with establishment: the SYN, sent before, has none.
    data = [packet for packet in capture.packets if packet.payload > 0]
    assert {packet.tos & ~3 for packet in data if packet.port == port} == {4}
    assert {packet.tos & ~3 for packet in data if packet.port == plain} == {0}
