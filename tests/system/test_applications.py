# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What programs ask for themselves, without any rights: setsockopt(NETNICE_RECEIVE), and the same by bindings/."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import DROP, Pair, end_as_text, netnice, netnicectl, receiver, status
from testbed import Process, ownership, program

BEGIN, STOP = signal.SIGUSR1, signal.SIGUSR2
TOP = Path(__file__).parents[2]
README, BINDINGS = TOP / "docs" / "build-on" / "applications.md", TOP / "bindings"


def choose(pair: Pair, *words: str, under: tuple[str, ...] = ()) -> Process:
    """A download without rights that says itself whether it yields; ``words`` are said first."""
    port = pair.end(pair.b, "pour").line().strip()
    argv = end_as_text("choose", pair.b4, port, *words)
    return pair.a.spawn(*under, *DROP, *argv, stdout=subprocess.PIPE, cwd=Path("/"))


def connected(process: Process) -> Process:
    assert process.line() == "connected\n"
    return process


def told(process: Process, what: signal.Signals) -> str:
    """What the kernel answers to its call."""
    process.signal(what)
    return process.line().strip()


def handled() -> bool:
    """Whether the receiver sees what arrives, on the one connection that there is, which is always busy."""
    before, end = receiver()["segments"], time.monotonic() + 0.5
    while time.monotonic() < end:
        if receiver()["segments"] > before:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.usefixtures("applications")
class TestCalls:
    def test_it_begins_and_stops(self, pair: Pair) -> None:
        before = receiver()["adopted"]
        process = connected(choose(pair))
        for _ in range(2):
            assert not handled()
            assert told(process, BEGIN) == "ok"
            assert told(process, BEGIN) == "ok"
            assert handled()
            assert told(process, STOP) == "ok"
            assert told(process, STOP) == "ok"
        assert not handled()
        assert receiver()["adopted"] == before + 2

    @pytest.mark.parametrize("first", ["1", "0"])
    def test_before_it_connects(self, pair: Pair, first: str) -> None:
        before, process = receiver()["connections"], choose(pair, first)
        assert process.line() == "ok\n"
        connected(process)
        assert receiver()["connections"] == before + int(first)
        assert handled() == (first == "1")

    def test_what_netnice_began_it_cannot_stop(self, pair: Pair) -> None:
        process = connected(choose(pair))
        assert told(process, BEGIN) == "ok"
        netnice("-n", "0", "-p", str(process.pid))
        assert told(process, STOP) == "EPERM"
        assert handled()
        netnice("-n", "off", "-p", str(process.pid))
        assert not handled()
        assert told(process, BEGIN) == "ok"
        assert told(process, STOP) == "ok"

    def test_a_level_it_cannot_leave(self, pair: Pair) -> None:
        """At a level its call changes nothing, and is no reason to handle the connection twice."""
        before, process = receiver(), choose(pair, "1", under=("netnice",))
        assert process.line() == "ok\n"
        connected(process)
        assert told(process, STOP) == "EPERM"
        assert told(process, BEGIN) == "ok"
        after = receiver()
        assert [after[name] - before[name] for name in ("connections", "adopted")] == [1, 0]

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

    def test_down_and_what_is_left(self, machine: dict[int, str], pair: Pair) -> None:
        process = connected(choose(pair))
        assert told(process, BEGIN) == "ok"
        netnicectl("down")
        kernel.assert_nothing_remains(machine)
        assert told(process, STOP) == "ENOPROTOOPT"


class TestUp:
    def test_without(self, down: dict[int, str], pair: Pair) -> None:
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

    @pytest.mark.usefixtures("fresh")
    def test_what_p_loads_is_not_asked_for(self, pair: Pair) -> None:
        """-p on a download loads the same programs. Only --applications is on record, also after a replacement."""
        netnice("-n", "0", "-p", str(pair.connect().client.pid))
        assert (kernel.LINKS / "receiver-adopt-root").exists()
        assert not status()["receiver"]["applications"]
        assert "applications may choose" not in netnicectl("status").stdout
        assert netnicectl("up", "--applications").stdout == "up for applications too\n"
        assert "applications may choose" in netnicectl("status").stdout
        assert "replaced" in netnicectl("up", "--with", "nnreno").stdout
        assert status()["receiver"]["applications"]

    def test_repaired(self, applications: None) -> None:
        """Whatever up finds broken, applications can call again afterwards."""
        for pin in ("receiver-adopted-root", "sender-netnice"):
            (kernel.PINS / "links" / pin).unlink()
            assert netnicectl("up").stdout.startswith("up again")
            assert status()["receiver"]["applications"]


@pytest.mark.usefixtures("applications")
class TestDocument:
    """The examples of docs/build-on/applications.md, as they are there."""

    def example(self, language: str) -> str:
        return README.read_text().partition(f"```{language}\n")[2].partition("```")[0]

    def test_c(self, pair: Pair) -> None:
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

    def test_python(self, pair: Pair) -> None:
        script = self.example("python") + "\nprint(yield_receiving(socket.socket()))\n"
        assert pair.a.run(*DROP, sys.executable, "-c", script).stdout == "True\n"
        netnicectl("down")
        assert pair.a.run(*DROP, sys.executable, "-c", script).stdout == "False\n"


C_MAIN = """
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "background.h"

int main(int argc, char **argv)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (argc > 1 && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, argv[1], strlen(argv[1])))
		return 1;
	struct netnice_background got = netnice_background(fd);
	printf("%s %d\\n", got.sends, got.receives);
	return 0;
}
"""
PYTHON_MAIN = """
import sys
connection = socket.socket()
if len(sys.argv) > 1:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
got = background(connection)
print(got.sends, int(got.receives))
"""


@pytest.fixture(params=["c", "python"])
def example(request: pytest.FixtureRequest) -> list[str]:
    """The words of a program that calls, and prints what it got."""
    if request.param == "python":
        return [sys.executable, "-c", (BINDINGS / "python" / "background.py").read_text() + PYTHON_MAIN]
    folder = ownership.scratch("background")
    folder.chmod(0o755)
    (folder / "main.c").write_text(C_MAIN)
    sources = [str(folder / "main.c"), str(BINDINGS / "c" / "background.c")]
    words = ["-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", f"-I{BINDINGS / 'c'}"]
    subprocess.run([program("cc"), *words, "-o", str(folder / "main"), *sources], check=True)
    return [str(folder / "main")]


def lowest() -> str:
    """What is left without netnice: TCP-LP where the kernel has it for all users, else a cap."""
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    return "lp" if "lp" in allowed else "pacing"


@pytest.mark.usefixtures("down")
def test_in_order(pair: Pair, example: list[str]) -> None:
    def got(*words: str) -> str:
        return pair.a.run(*DROP, *example, *words).stdout.strip()

    assert got() == f"{lowest()} 0"
    netnicectl("up")
    assert got() == "netnice 0"
    assert got("netnice2") == "netnice2 0", "a level is kept"
    netnicectl("up", "--applications")
    assert got() == "netnice 1"
    netnicectl("down")
    assert got() == f"{lowest()} 0"
