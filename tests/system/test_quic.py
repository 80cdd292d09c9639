# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""--quic=tcp: who is in the background and asked to do without QUIC is refused it, and uses TCP, which yields."""

from __future__ import annotations

import contextlib
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness import cgroups, kernel, runtime
from system.harness.browsers import Chromium
from system.harness.certificate import Certificate
from system.harness.cgroups import inside
from system.harness.commands import PROGRAMS, Done, Pair, Run
from system.harness.days import say
from system.harness.pins import rewrite_state
from testbed import Namespace, ownership, program
from testbed.namespace import wait_until

USER = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
PYTHON = "/usr/bin/python3"  # that of a virtual environment may be closed to users
#: What becomes of a datagram to a port, from a socket that is connected and from one that is not, by either IP.
ASK = """if True:
    import json, socket
    def ask(family, address, port, connected):
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            try:
                if connected:
                    s.connect((address, port))
                s.sendto(b"", (address, port)) if not connected else None
            except ConnectionRefusedError:
                return "refused"
            return "passed"
    ends = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
    print(json.dumps({port: [ask(*end, port, c) for end in ends for c in (True, False)] for port in (443, 53, 853)}))
"""
REFUSED = {"443": ["refused"] * 4, "53": ["passed"] * 4, "853": ["passed"] * 4}
PASSED = {port: ["passed"] * 4 for port in REFUSED}
SENDS = """if True:
    import socket
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(20000):
        s.sendto(b"", ("127.0.0.1", 9))
"""
CONNECTS = """if True:
    import socket
    for _ in range(20000):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("127.0.0.1", 9))
"""


def run(*words: str) -> Done:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def asked(*first: str) -> dict[str, list[str]]:
    """What a program is told that these words start."""
    done = run(*first, PYTHON, "-c", ASK)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def programs() -> set[str]:
    """Those of netnice on the root of the cgroups."""
    words = [program("bpftool"), "-j", "cgroup", "show", str(kernel.cgroup_root())]
    shown = json.loads(subprocess.run(words, capture_output=True, check=True).stdout.strip() or b"[]")
    return {one["name"] for one in shown if one["name"].startswith("quic_")}


@pytest.fixture
def netnice_of_users() -> str:
    """Where everybody may run it."""
    folder = ownership.scratch("bin")
    folder.chmod(0o755)
    return str(shutil.copy(program("netnice"), folder / "netnice"))


class TestWho:
    def test_a_users_command_and_its_children(
        self, down: dict[int, str], netnicectl: Run, netnice_of_users: str
    ) -> None:
        netnicectl("up")
        assert netnicectl("up", "--quic").stdout == "up for QUIC too\n"
        assert netnicectl("up", "--quic").stdout == "already up\n"
        for first in ([], ["sh", "-c", 'exec "$@"', "sh"], ["sh", "-c", '"$@"; true', "sh"]):
            assert asked(*USER, netnice_of_users, "--quic=tcp", *first) == REFUSED
        assert asked(*USER, netnice_of_users) == PASSED, "who did not ask"
        assert asked(*USER) == PASSED, "the foreground"
        assert json.loads(netnicectl("status", "--json").stdout)["quic_refused"] == 3 * 5

    def test_it_takes_an_administrator_once(self, down: dict[int, str], netnicectl: Run, netnice_of_users: str) -> None:
        netnicectl("up")
        done = run(*USER, netnice_of_users, "--quic=tcp", "true")
        assert done.returncode == 125
        assert "netnicectl up --quic" in done.stderr
        assert programs() == set()
        assert asked(program("netnice"), "--quic=tcp") == REFUSED, "root's first use loads it"
        assert asked(*USER, netnice_of_users, "--quic=tcp") == REFUSED

    def test_it_stays_over_another_builds_up_and_goes_with_down(
        self, down: dict[int, str], netnicectl: Run, netnice_of_users: str
    ) -> None:
        netnicectl("up", "--quic")
        command = [*USER, netnice_of_users, "--quic=tcp", "sh", "-c", 'read line; exec "$@"', "sh", PYTHON, "-c", ASK]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as waits:
            wait_until(lambda: (Path("/proc") / str(waits.pid) / "comm").read_text() == "sh\n", "it to begin")
            rewrite_state(build_id="0" * 64, version="0.0.1")
            assert netnicectl("up").stdout.startswith("up again")
            assert len(programs()) == 4
            assert json.loads(waits.communicate("go\n", timeout=30)[0]) == REFUSED
        netnicectl("down")
        assert programs() == set()

    def test_half_of_it_is_mended(self, down: dict[int, str], netnicectl: Run) -> None:
        """As after a kill -9 between two of its programs."""
        netnicectl("up", "--quic")
        (kernel.PINS / "links" / "quic_sendmsg6").unlink()
        assert netnicectl("up", "--quic").stdout == "up for QUIC too\n"
        assert len(programs()) == 4

    def test_a_unit(self, up: dict[int, str], netnicectl: Run) -> None:
        with cgroups.made("browser.scope", "tab") as tab:
            netnicectl("attach", "--quic=tcp", "-n", "1", "browser.scope")
            (found,) = json.loads(netnicectl("status", "--json").stdout)["attached"]
            assert (found["without_quic"], found["level"]) == (True, 1)
            assert "without QUIC" in netnicectl("status").stdout
            assert asked(*inside(tab)) == REFUSED
            netnicectl("detach", "browser.scope")
            assert asked(*inside(tab)) == PASSED
        assert asked() == PASSED

    def test_rules(self, up: dict[int, str], netnicectl: Run, tmp_path: Path) -> None:
        """Of units and programs, those that are there and those to come; a level of its own is kept."""
        rules, renamed = tmp_path / "policy.toml", tmp_path / "its-name"
        rules.write_text(
            '[[rule]]\nunit = "browser*.scope"\nquic = "tcp"\n\n[[rule]]\ncommand = "its-name*"\nquic = "tcp"\n'
        )
        renamed.symlink_to("/bin/sh")
        command = [program("netnice"), "-n", "2", str(renamed), "-c"]
        waiting = [*command, 'read line; "$@"', "sh", PYTHON, "-c", ASK]
        with (
            cgroups.made("browser-1.scope") as scope,
            subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as waits,
        ):
            wait_until(lambda: (Path("/proc") / str(waits.pid) / "comm").read_text() == "its-name\n", "it to begin")
            assert "its-name*: 0, without QUIC" in netnicectl("policy", "check", str(rules)).stdout
            netnicectl("policy", "apply", str(rules))
            assert len(programs()) == 4
            assert asked(*inside(scope)) == REFUSED
            later = scope.with_name("browser-2.scope")
            later.mkdir()
            assert asked(*inside(later)) == REFUSED
            assert "netnice2" in netnicectl("explain", str(waits.pid)).stdout
            assert json.loads(waits.communicate("go\n", timeout=30)[0]) == REFUSED
            assert asked(*command, '"$@"', "sh") == REFUSED, "nicer than the rule has it"
            assert all(rule["without_quic"] for rule in json.loads(netnicectl("policy", "show", "--json").stdout))
            rules.write_text("")
            netnicectl("policy", "apply", str(rules))
            assert asked(*inside(scope)) == PASSED
        assert asked() == PASSED


@contextlib.contextmanager
def site(where: Namespace) -> Iterator[Certificate]:
    """One with HTTP/3."""
    certificate = Certificate(where.address)
    words = (sys.executable, PROGRAMS / "http3.py", certificate.file, certificate.key)
    with where.spawn(*words, stdout=subprocess.PIPE) as server:
        server.line()
        yield certificate


class TestClients:
    """Each falls back to TCP, and at once."""

    @pytest.mark.parametrize("first", [[], ["netnice"], ["netnice", "--quic=tcp"]], ids=" ".join)
    def test_curl(self, up: dict[int, str], pair: Pair, first: list[str]) -> None:
        script = f"""if True:
            from curl_cffi import CurlHttpVersion, requests
            said = requests.get("https://{pair.b4}/", http_version=CurlHttpVersion.V3, verify=False, timeout=10)
            print(said.http_version, said.elapsed.total_seconds())
        """
        with site(pair.b):
            words = [program(first[0]), *first[1:]] if first else []
            version, seconds = pair.a.run(*words, sys.executable, "-c", script).stdout.split()
        assert int(version) == (2 if "--quic=tcp" in first else 30)
        assert float(seconds) < 1

    @pytest.mark.parametrize("quic", [True, False], ids=["with", "without"])
    def test_chromium(self, up: dict[int, str], netnicectl: Run, pair: Pair, *, quic: bool) -> None:
        with site(pair.b) as certificate, cgroups.made("browser.scope") as scope:
            if not quic:
                netnicectl("attach", "--quic=tcp", "browser.scope")
            with Chromium(pair.a, trusted=certificate.hash(), quic=pair.b4, under=inside(scope)) as chromium:
                seen = []
                for page in range(6):
                    chromium.open(f"https://{pair.b4}/{page}")
                    timing = 'performance.getEntriesByType("navigation")[0]'
                    seen.append(chromium.evaluate(f"{timing}.nextHopProtocol"))
        assert seen[0] == "http/1.1", "it cannot know better"
        if quic:
            assert seen[-1] == "h3", f"QUIC would work, once it has won the race against TCP: {seen}"
        else:
            assert set(seen) == {"http/1.1"}


def test_what_it_costs_others(down: dict[int, str], netnicectl: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """A datagram without a connection, and a connect(), of who is in the foreground: 250 ns, as a socket may."""
    netnicectl("up", "--quic")

    def each(name: str, code: str) -> float:
        before = runtime.newest(name)
        subprocess.run([PYTHON, "-c", code], check=True)
        return (runtime.newest(name) - before).each

    with runtime.measured():
        datagram = statistics.median(each("quic_sendmsg4", SENDS) for _ in range(5))
        connect = statistics.median(each("quic_connect4", CONNECTS) for _ in range(5))
    say(capsys, f"a datagram {datagram:.0f} ns, a connect {connect:.0f} ns once QUIC is refused to somebody")
    assert datagram <= 250
    assert connect <= 250
