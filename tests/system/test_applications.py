# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A program's own call: setsockopt(NETNICE_RECEIVE) on a socket of its own, without any rights."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import PROGRAMS, Pair, Run
from testbed import Process, ownership, program

BEGIN, STOP = signal.SIGUSR1, signal.SIGUSR2
DROP = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
README = Path(__file__).parents[2] / "docs" / "applications.md"


@pytest.fixture
def applications(down: dict[int, str], netnicectl: Run) -> dict[int, str]:
    """netnice is loaded for applications when the test begins."""
    assert netnicectl("up", "--applications").stdout == "up\n"
    return down


def choose(pair: Pair, *words: str, under: tuple[str, ...] = ()) -> Process:
    """A download without rights that says itself whether it yields; ``words`` are said first."""
    pour = pair.b.spawn(sys.executable, PROGRAMS / "pour.py", stdout=subprocess.PIPE)
    # Root's folders may be closed to nobody, so the program is handed over as text.
    argv = [sys.executable, "-c", (PROGRAMS / "choose.py").read_text(), pair.b4, pour.line().strip()]
    return pair.a.spawn(*under, *DROP, *argv, *words, stdout=subprocess.PIPE, cwd=Path("/"))


def connected(process: Process) -> Process:
    assert process.line() == "connected\n"
    return process


def told(process: Process, what: signal.Signals) -> str:
    """What the kernel answers to its call."""
    process.signal(what)
    return process.line().strip()


def counters(netnicectl: Run) -> dict[str, int]:
    return dict(json.loads(netnicectl("status", "--json").stdout)["receiver"]["counters"])


def handled(netnicectl: Run) -> bool:
    """Whether the receiver sees what arrives, on the one connection that there is, which is always busy."""
    before = counters(netnicectl)["segments"]
    time.sleep(0.5)
    return counters(netnicectl)["segments"] > before


@pytest.mark.usefixtures("applications")
class TestCalls:
    def test_it_begins_and_stops(self, netnicectl: Run, pair: Pair) -> None:
        process = connected(choose(pair))
        for _ in range(2):
            assert not handled(netnicectl)
            assert told(process, BEGIN) == "ok"
            assert told(process, BEGIN) == "ok"
            assert handled(netnicectl)
            assert told(process, STOP) == "ok"
            assert told(process, STOP) == "ok"
        assert not handled(netnicectl)
        assert counters(netnicectl)["adopted"] == 2

    @pytest.mark.parametrize("first", ["1", "0"])
    def test_before_it_connects(self, netnicectl: Run, pair: Pair, first: str) -> None:
        process = choose(pair, first)
        assert process.line() == "ok\n"
        connected(process)
        assert counters(netnicectl)["connections"] == int(first)
        assert handled(netnicectl) == (first == "1")

    def test_what_netnice_began_it_cannot_stop(self, netnice: Run, netnicectl: Run, pair: Pair) -> None:
        process = connected(choose(pair))
        assert told(process, BEGIN) == "ok"
        netnice("-n", "0", "-p", str(process.pid))
        assert told(process, STOP) == "EPERM"
        assert handled(netnicectl)
        netnice("-n", "off", "-p", str(process.pid))
        assert not handled(netnicectl)
        assert told(process, BEGIN) == "ok"
        assert told(process, STOP) == "ok"

    def test_a_level_it_cannot_leave(self, netnicectl: Run, pair: Pair) -> None:
        """At a level its call changes nothing, and is no reason to handle the connection twice."""
        process = choose(pair, "1", under=("netnice",))
        assert process.line() == "ok\n"
        connected(process)
        assert told(process, STOP) == "EPERM"
        assert told(process, BEGIN) == "ok"
        assert (counters(netnicectl)["connections"], counters(netnicectl)["adopted"]) == (1, 0)

    def test_wrong_values(self, pair: Pair) -> None:
        script = f"""if True:
            import errno, socket
            s = socket.socket()
            for value in (2, -1, b"1", b"12345"):
                try:
                    s.setsockopt(socket.IPPROTO_TCP, {0x6E6E}, value)
                except OSError as e:
                    print(errno.errorcode[e.errno])
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            print(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        """
        said = pair.a.run(*DROP, sys.executable, "-c", script).stdout
        assert said.split() == ["EINVAL"] * 4 + ["1"], "and all other options are the kernel's"

    def test_down_and_what_is_left(self, applications: dict[int, str], netnicectl: Run, pair: Pair) -> None:
        process = connected(choose(pair))
        assert told(process, BEGIN) == "ok"
        netnicectl("down")
        kernel.assert_nothing_remains(applications)
        assert told(process, STOP) == "ENOPROTOOPT"


class TestUp:
    def test_without(self, down: dict[int, str], netnicectl: Run, pair: Pair) -> None:
        """The option is unknown to the kernel, as to any that has no netnice; afterwards it is."""
        process = connected(choose(pair))
        assert told(process, BEGIN) == "ENOPROTOOPT"
        netnicectl("up")
        assert told(process, BEGIN) == "ENOPROTOOPT"
        assert netnicectl("up", "--applications").stdout == "up for applications too\n"
        assert netnicectl("up", "--applications").stdout == "already up\n"
        assert netnicectl("up").stdout == "already up\n"
        assert told(process, BEGIN) == "ok"
        assert "applications may choose" in netnicectl("status").stdout

    def test_repaired(self, applications: dict[int, str], netnicectl: Run) -> None:
        """Whatever up finds broken, applications can call again afterwards."""
        for pin in ("receiver-adopted-root", "sender-netnice"):
            (kernel.PINS / "links" / pin).unlink()
            assert netnicectl("up").stdout.startswith("up again")
            assert json.loads(netnicectl("status", "--json").stdout)["receiver"]["applications"]


@pytest.mark.usefixtures("applications")
class TestDocument:
    """The examples of docs/applications.md, as they are there."""

    def example(self, language: str) -> str:
        return README.read_text().partition(f"```{language}\n")[2].partition("```")[0]

    def test_c(self, netnicectl: Run, pair: Pair) -> None:
        folder = ownership.scratch("document")
        folder.chmod(0o755)
        (folder / "example.h").write_text(self.example("c"))
        main = '#include <errno.h>\n#include <unistd.h>\n#include "example.h"\n'
        main += "int main(void) { return yield_receiving(socket(AF_INET, SOCK_STREAM, 0), 1) ? errno : 0; }\n"
        (folder / "example.c").write_text(main)
        words = ["-Wall", "-Wextra", "-Werror", "-o", str(folder / "example"), str(folder / "example.c")]
        subprocess.run([program("cc"), *words], check=True)
        assert pair.a.run(*DROP, folder / "example", check=False).returncode == 0
        netnicectl("down")
        assert pair.a.run(*DROP, folder / "example", check=False).returncode == 92, "ENOPROTOOPT"

    def test_python(self, netnicectl: Run, pair: Pair) -> None:
        script = self.example("python") + "\nprint(yield_receiving(socket.socket()))\n"
        assert pair.a.run(*DROP, sys.executable, "-c", script).stdout == "True\n"
        netnicectl("down")
        assert pair.a.run(*DROP, sys.executable, "-c", script).stdout == "False\n"
