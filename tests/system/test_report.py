# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice --report: what it says at the end, and that COMMAND is as without it.

The process that really sends: of an ssh session with a master, a daemon's client, a rootless container.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.harness.commands import DROP, PYTHON, Pair, children, descendants, end, name, netnice
from system.harness.path import Trial
from system.harness.ssh import Sshd
from testbed import Namespace, Process, program, scratch
from testbed import Path as EmulatedPath
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")


def told(namespace: Namespace, *words: str) -> dict[str, Any]:
    """What it reports of a command, as JSON."""
    done = namespace.run(program("netnice"), "--report", "--json", *words)
    found: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return found


#: Opens a connection, sends so many bytes, and waits a little.
SENDS = (
    "import socket, sys, time; c = socket.create_connection((sys.argv[1], int(sys.argv[2])));"
    " c.sendall(bytes(int(sys.argv[3]))); time.sleep(0.5)"
)


class TestConnections:
    @pytest.fixture
    def port(self, pair: Pair) -> Iterator[str]:
        with pair.end(pair.b, "sink") as server:
            yield server.line().strip()

    def test_of_a_program(self, pair: Pair, port: str) -> None:
        said = told(pair.a, "sh", "-c", 'python3 -c "$0" "$@"; true', SENDS, pair.b4, port, "1000000")
        assert (said["command"], said["connections"], said["yielded"]) == ("sh", 1, 1)
        assert 1_000_000 <= said["sent"] <= 1_000_001
        assert said["senders"] == []
        assert said["seconds"] >= 0.5

    def test_in_a_line(self, pair: Pair, port: str) -> None:
        words = ["python3", "-c", SENDS, pair.b4, port, "5000000"]
        done = pair.a.run(program("netnice"), "--report", *words)
        (line,) = done.stderr.splitlines()
        assert line.startswith("netnice: python3: 1 of 1 connections yielded, 5.0 MB sent, 0 B received in ")

    def test_without_a_connection(self) -> None:
        done = netnice("--report", "true")
        assert done.stderr.startswith("netnice: true: no connection of it yielded: none was seen, 0 B sent")

    def test_the_queue_of_a_download_is_roots(self, pair: Pair, for_users: Path) -> None:
        """The seconds are those of the receiver, which only root may ask."""
        receives = (
            "import socket, sys, time; c = socket.create_connection((sys.argv[1], int(sys.argv[2])));"
            " c.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n'); left = 50_000_000\n"
            "while left > 0: left -= len(c.recv(1 << 16))\ntime.sleep(0.5)"
        )
        port = pair.end(pair.b, "pour").line().strip()
        words = ["--report", "--json", "python3", "-c", receives, pair.b4, port]
        for first, untold in (([program("netnice")], 0), ([*DROP, str(for_users / "netnice")], 1)):
            said = json.loads(pair.a.run(*first, *words).stderr.splitlines()[-1])
            assert (said["yielded"], said["untold_downloads"]) == (1, untold)
            assert (said["yielded_seconds"] is None) == bool(untold)

    def test_without_rights(self, pair: Pair, port: str, for_users: Path) -> None:
        words = [*DROP, str(for_users / "netnice"), "--report", "--json", "python3", "-c", SENDS, pair.b4, port, "1000"]
        done = pair.a.run(*words)
        assert json.loads(done.stderr.splitlines()[-1])["yielded"] == 1


@pytest.mark.verify("an upload for 24 s")
def test_the_seconds_end_with_the_competition(trial: Trial) -> None:
    """A plain upload for 5 s of the 24: after it the kernel's least RTT is a tenth of the path's."""
    with Namespace("www") as www, Namespace("home") as home, EmulatedPath(www, home, rate="10mbit", rtt="40ms") as path:
        ports = [www.spawn(*end("sink"), stdout=subprocess.PIPE).line().strip() for _ in range(2)]
        ours, plain = (
            end("send", www.address, port, "cubic", lasts) for port, lasts in zip(ports, ("24", "5"), strict=True)
        )
        with home.spawn("sh", "-c", 'sleep 6; exec "$@"', "sh", *plain):
            said = told(home, *ours)
    trial.judge(path)
    assert (said["connections"], said["yielded"]) == (1, 1)
    trial(
        "an upload beside a plain one for 5 s says that it yielded for", said["yielded_seconds"], "s", least=2, most=10
    )


class TestAsWithoutIt:
    @pytest.mark.parametrize("status", [0, 7, 255])
    def test_exit_status(self, status: int) -> None:
        assert netnice("--report", "sh", "-c", f"exit {status}", check=False).returncode == status

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
    def test_death_by_a_signal(self, number: signal.Signals) -> None:
        done = netnice("--report", "sh", "-c", f"kill -{int(number)} $$", check=False)
        assert done.returncode == -number

    def test_a_command_that_does_not_exist(self) -> None:
        done = netnice("--report", "no-such-command", check=False)
        assert done.returncode == 127
        assert "connection" not in done.stderr

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_signals_are_forwarded(self, number: signal.Signals) -> None:
        def heeded() -> None:
            """Also where the tests run below nohup(1)."""
            signal.signal(number, signal.SIG_DFL)

        words = [program("netnice"), "--report", "sleep", "60"]
        with subprocess.Popen(words, stderr=subprocess.DEVNULL, preexec_fn=heeded) as process:
            wait_until(lambda: [name(pid) for pid in children(process.pid)] == ["sleep"], "it to run")
            process.send_signal(number)
            assert process.wait(5) == -number

    def test_it_stops_and_goes_on_with_its_command(self) -> None:
        words = [program("netnice"), "--report", "sleep", "60"]
        with subprocess.Popen(words, stderr=subprocess.DEVNULL, process_group=0) as process:
            wait_until(lambda: [name(pid) for pid in children(process.pid)] == ["sleep"], "it to run")
            (sleep,) = children(process.pid)
            process.send_signal(signal.SIGTSTP)
            wait_until(lambda: _state(sleep) == _state(process.pid) == "T", "both to stop")
            process.send_signal(signal.SIGCONT)
            wait_until(lambda: _state(sleep) == _state(process.pid) == "S", "both to go on")
            process.terminate()
            assert process.wait(5) == -signal.SIGTERM

    def test_the_terminal_interrupts_once(self) -> None:
        """COMMAND is in the foreground process group, and gets a ^C of the terminal from there alone."""
        pid, terminal = pty.fork()
        if not pid:
            count = 'trap "n=x$n" INT; n=; echo ready; sleep 1; sleep 0.3; echo "got $n."'
            os.execv(program("netnice"), ["netnice", "--report", "sh", "-c", count])
        with os.fdopen(terminal, "rb", buffering=0) as screen:
            seen = b""
            while b"ready" not in seen:
                seen += screen.read(1024)
            os.write(terminal, b"\x03")
            with contextlib.suppress(OSError):  # the other end is closed
                while block := screen.read(1024):
                    seen += block
        assert os.waitpid(pid, 0)[1] == 0
        assert b"got x." in seen


def _state(pid: int) -> str:
    """A letter, as ps(1) has it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("State:"))


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
