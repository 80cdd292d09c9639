# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The process that really sends: of an ssh session with a master, a daemon's client, a rootless container."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.harness.commands import PYTHON, Pair, descendants, name
from system.harness.ssh import Sshd
from testbed import Namespace, Process, program, scratch
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")

_DAEMON = (
    "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen();"
    " print(flush=True); kept = s.accept(); kept[0].recv(1)"
)
_CLIENT = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(flush=True); s.recv(1)"


def explained(where: Namespace, pid: int) -> tuple[list[dict[str, Any]], str]:
    """The senders that netnicectl names, and all that it says."""
    words = [program("netnicectl"), "explain", str(pid)]
    found: list[dict[str, Any]] = json.loads(where.run(*words, "--json").stdout)["senders"]
    return found, where.run(*words).stdout


class Master:
    """An ssh connection for others to use; ``first`` are the words before ssh."""

    def __init__(self, pair: Pair, sshd: Sshd, first: list[str]) -> None:
        self.socket = scratch("master") / "s"
        self.words = [*sshd.command.split(), "-S", str(self.socket)]
        self.to = f"root@{pair.b4}"
        self.process = pair.a.spawn(*first, *self.words, "-M", "-N", self.to)
        wait_until(self.socket.exists, "the master to connect", process=self.process)

    def session(self, *remote: str) -> list[str]:
        return [*self.words, self.to, *remote]


@pytest.fixture
def sshd(pair: Pair) -> Iterator[Sshd]:
    with Sshd(pair.b) as found:
        yield found


class TestSshMasters:
    def test_rsync_over_one_of_the_foreground(self, pair: Pair, sshd: Sshd) -> None:
        """Its report names the master, and the command that has it yield."""
        master = Master(pair, sshd, [])
        data = scratch("master") / "data"
        data.write_bytes(bytes(20 << 20))
        shell = " ".join(master.words)
        with master.process:
            words = ["rsync", "--bwlimit=10m", "-e", shell, str(data), f"{master.to}:{data.parent}/copy"]
            done = pair.a.run(program("netnice"), "--report", *words)
            (line,) = [one for one in done.stderr.splitlines() if one.startswith("netnice: ")]
        pid = master.process.pid
        assert line.startswith("netnice: rsync: no connection of it yielded: none was seen")
        assert f"; process {pid} (ssh) sends for it, in the foreground: " in line
        assert line.endswith(f"Put it in the background: 'sudo netnice -n 0 -d -p {pid}'")

    def test_a_session_of_the_foreground_over_one_of_the_background(self, pair: Pair, sshd: Sshd) -> None:
        master = Master(pair, sshd, [program("netnice")])
        words = master.session("sleep", "600")
        # ssh passes its descriptors to the master, which would keep a pipe open.
        with master.process, pair.a.spawn(*words, stderr=subprocess.DEVNULL) as session:
            pid = master.process.pid
            wait_until(lambda: bool(explained(pair.a, session.pid)[0]), "the session to begin", process=session)
            (sender,), said = explained(pair.a, session.pid)
            assert (sender["pid"], sender["way"], sender["level"], sender["asked_by"]) == (pid, "ssh_master", 0, None)
            assert f"process {pid} (ssh) sends for it, in the background at level 0" in said
            assert f"Back to the foreground: 'sudo netnice -n off -d -p {pid}'" in said

    def test_plain_ssh_sends_itself(self, pair: Pair, sshd: Sshd) -> None:
        words = [program("netnice"), "--report", "--json", *sshd.command.split(), f"root@{pair.b4}", "sleep", "0.5"]
        said = json.loads(pair.a.run(*words).stderr.splitlines()[-1])
        assert (said["connections"], said["yielded"], said["senders"]) == (1, 1, [])


def test_a_daemons_client(pair: Pair) -> None:
    """As docker's and podman's, by the path of the daemon's socket."""
    for file, count in (("docker.sock", 1), ("session.sock", 0)):
        path = str(scratch("daemon") / file)
        Path(path).unlink(missing_ok=True)
        with pair.a.spawn(PYTHON, "-c", _DAEMON, path, stdout=subprocess.PIPE) as daemon:
            daemon.line()
            words = [program("netnice"), PYTHON, "-c", _CLIENT, path]
            with pair.a.spawn(*words, stdout=subprocess.PIPE) as client:
                client.line()
                found, said = explained(pair.a, client.pid)
                assert len(found) == count
                if found:
                    assert (found[0]["pid"], found[0]["way"]) == (daemon.pid, {"daemon": path})
                    assert f"it is asked by {path}. Put it in the background: " in said


def test_a_rootless_containers_network(pair: Pair) -> None:
    """A program that is called like the helper, and names a process of the container's network."""
    with pair.a.spawn("sleep", "600") as container:
        wait_until(lambda: name(container.pid) == "sleep", "it to run")
        sleeps = "import time; time.sleep(600)"
        called = [program("bash"), "-c", 'exec -a slirp4netns "$0" "$@"', PYTHON, "-c", sleeps, str(container.pid)]
        with Process(called) as helper:
            wait_until(lambda: name(helper.pid).startswith("python"), "the helper to run")
            done = subprocess.run(
                [program("netnicectl"), "explain", "--json", str(container.pid)], capture_output=True, check=True
            )
            (sender,) = json.loads(done.stdout)["senders"]
            assert (sender["pid"], sender["way"]) == (helper.pid, "rootless")
            assert not descendants(helper.pid)
