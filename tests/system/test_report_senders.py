# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice --report names the process that sends: COMMAND itself, or what was there before it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.harness.commands import PYTHON, Pair, name, netnice, runs_on
from system.harness.ssh import Sshd
from testbed import Namespace, Nginx, program, scratch
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")
SIZE = 4 << 20
SLOW = ["root", "tbf", "rate", "30mbit", "burst", "20kb", "limit", "200kb"]
_SFTP = "/usr/lib/openssh/sftp-server"

#: A daemon that waits for a client, and a client that is served for as long as a few looks take.
_DAEMON = (
    "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen();"
    " print(flush=True); kept = s.accept(); kept[0].recv(1)"
)
_CLIENT = "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); time.sleep(0.5)"


def report(where: Namespace, *words: str) -> dict[str, Any]:
    """What it reports of a command."""
    done = where.run(program("netnice"), "--report", "--json", *words)
    found: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return found


@pytest.fixture
def sshd(pair: Pair) -> Iterator[Sshd]:
    with Sshd(pair.b) as found:
        yield found


@pytest.fixture
def data() -> Path:
    found = scratch("data") / "data"
    found.write_bytes(bytes(SIZE))
    return found


class TestItself:
    def test_curl(self, pair: Pair) -> None:
        pair.b.run("tc", "qdisc", "add", "dev", "veth0", *SLOW)
        with Nginx(pair.b, {"data": SIZE}) as web:
            said = report(pair.a, "curl", "-sSfo", "/dev/null", web.url("data"))
        assert (said["command"], said["connections"], said["yielded"], said["senders"]) == ("curl", 1, 1, [])
        assert said["received"] > SIZE / 2  # as far as the last look saw

    def test_rsync_over_ssh(self, pair: Pair, sshd: Sshd, data: Path) -> None:
        words = ["--bwlimit=8m", "-e", sshd.command, str(data), f"root@{pair.b4}:{data.parent}/copy"]
        said = report(pair.a, "rsync", *words)
        assert (said["command"], said["connections"], said["yielded"], said["senders"]) == ("rsync", 1, 1, [])


class TestOthers:
    def test_sshfs(self, pair: Pair, sshd: Sshd, data: Path) -> None:
        """Its ssh has the connection, and is no child of what serves the mount."""
        at = scratch("mount")
        words = ["sshfs", "-o", f"ssh_command={sshd.command},sftp_server={_SFTP}"]
        words += [f"root@{pair.b4}:{data.parent}", str(at)]
        pair.a.run(*words)
        try:
            said = report(pair.a, "sh", "-c", 'cat "$0" >/dev/null; exec 3<"$0"; sleep 0.5', f"{at}/data")
            assert (said["connections"], said["yielded"]) == (0, 0)
            (sender,) = said["senders"]
            assert (sender["program"], sender["way"], sender["level"]) == ("ssh", {"fuse": str(at)}, None)
            netnice("-n", "0", "-d", "-p", str(sender["pid"]))
            assert runs_on(pair.a) == ["netnice"]
        finally:
            pair.a.run("umount", str(at))

    def test_a_client_of_docker(self, pair: Pair) -> None:
        path = scratch("daemon") / "docker.sock"
        path.unlink(missing_ok=True)
        with pair.a.spawn(PYTHON, "-c", _DAEMON, str(path), stdout=subprocess.PIPE) as daemon:
            daemon.line()
            said = report(pair.a, PYTHON, "-c", _CLIENT, str(path))
            (sender,) = said["senders"]
            assert (sender["pid"], sender["way"]) == (daemon.pid, {"daemon": str(path)})
            assert said["connections"] == 0

    def test_in_a_rootless_container(self, pair: Pair) -> None:
        """Of a program that is called like the helper, and names a process of the container's network."""
        with pair.a.spawn("unshare", "--net", "sleep", "600") as container:
            wait_until(lambda: name(container.pid) == "sleep", "it to run")
            called = ["bash", "-c", 'exec -a slirp4netns "$0" "$@"', PYTHON, "-c", "import time; time.sleep(600)"]
            with pair.a.spawn(*called, str(container.pid)) as helper:
                wait_until(lambda: name(helper.pid).startswith("python"), "the helper to run")
                inside = [program("nsenter"), f"--net=/proc/{container.pid}/ns/net", "sleep", "0.5"]
                (sender,) = report(pair.a, *inside)["senders"]
                assert (sender["pid"], sender["way"]) == (helper.pid, "rootless")
