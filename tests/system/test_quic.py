# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""--quic=tcp: background processes that were asked to do without QUIC are refused it, and use TCP, which yields."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.browsers import Certificate, Chromium
from system.harness.commands import DROP, PROGRAMS, PYTHON, Done, Pair, name, netnicectl, status
from system.harness.kernel import inside, rewrite_state
from testbed import Namespace, program
from testbed.namespace import wait_until

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


def run(*words: str) -> Done:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def probe(*first: str) -> dict[str, list[str]]:
    """What a program is told that these words start."""
    done = run(*first, PYTHON, "-c", ASK)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def programs() -> set[str]:
    """Those of netnice on the root of the cgroups."""
    shown = kernel.bpftool("cgroup", "show", kernel.cgroup_root())
    return {one["name"] for one in shown if one["name"].startswith("quic_")}


@pytest.fixture
def netnice_of_users(for_users: Path) -> str:
    return str(for_users / "netnice")


class TestWho:
    def test_a_users_command_and_its_children(self, down: dict[int, str], netnice_of_users: str) -> None:
        netnicectl("up")
        assert netnicectl("up", "--quic").stdout == "up for QUIC too\n"
        assert netnicectl("up", "--quic").stdout == "already up\n"
        for first in ([], ["sh", "-c", 'exec "$@"', "sh"], ["sh", "-c", '"$@"; true', "sh"]):
            assert probe(*DROP, netnice_of_users, "--quic=tcp", *first) == REFUSED
        assert probe(*DROP, netnice_of_users) == PASSED, "who did not ask"
        assert probe(*DROP) == PASSED, "the foreground"
        assert status()["quic_refused"] == 3 * 5

    def test_it_takes_an_administrator_once(self, down: dict[int, str], netnice_of_users: str) -> None:
        netnicectl("up")
        done = run(*DROP, netnice_of_users, "--strict", "--quic=tcp", "true")
        assert done.returncode == 125
        assert "netnicectl up --quic" in done.stderr
        done = run(*DROP, netnice_of_users, "--quic=tcp", netnice_of_users)
        assert (done.returncode, done.stdout) == (0, "0\n")
        assert "runs in the background, but may use QUIC: QUIC blocking is off" in done.stderr
        assert programs() == set()
        assert probe(program("netnice"), "--quic=tcp") == REFUSED, "root's first use loads it"
        assert probe(*DROP, netnice_of_users, "--quic=tcp") == REFUSED

    def test_it_stays_over_another_builds_up_and_goes_with_down(
        self, down: dict[int, str], netnice_of_users: str
    ) -> None:
        netnicectl("up", "--quic")
        command = [*DROP, netnice_of_users, "--quic=tcp", "sh", "-c", 'read line; exec "$@"', "sh", PYTHON, "-c", ASK]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as waits:
            wait_until(lambda: name(waits.pid) == "sh", "it to begin")
            rewrite_state(build_id="0" * 64, version="0.0.1")
            assert netnicectl("up").stdout.startswith("up again")
            assert len(programs()) == 4
            assert json.loads(waits.communicate("go\n", timeout=30)[0]) == REFUSED
        netnicectl("down")
        assert programs() == set()

    def test_half_of_it_is_mended(self, down: dict[int, str]) -> None:
        """As after a kill -9 between two of its programs."""
        netnicectl("up", "--quic")
        (kernel.LINKS / "quic_sendmsg6").unlink()
        assert netnicectl("up", "--quic").stdout == "up for QUIC too\n"
        assert len(programs()) == 4

    def test_a_unit(self, up: None) -> None:
        with kernel.cgroup("browser.scope", "tab") as tab:
            netnicectl("attach", "--quic=tcp", "-n", "1", "browser.scope")
            (found,) = status()["attached"]
            assert (found["without_quic"], found["level"]) == (True, 1)
            assert "without QUIC" in netnicectl("status").stdout
            assert probe(*inside(tab)) == REFUSED
            netnicectl("detach", "browser.scope")
            assert probe(*inside(tab)) == PASSED
        assert probe() == PASSED

    def test_rules(self, up: None, tmp_path: Path) -> None:
        """Of units and programs, those that are there and those to come; a level of its own is kept."""
        rules, renamed = tmp_path / "policy.toml", tmp_path / "its-name"
        rules.write_text(
            '[[rule]]\nunit = "browser*.scope"\nquic = "tcp"\n\n[[rule]]\ncommand = "its-name*"\nquic = "tcp"\n'
        )
        renamed.symlink_to("/bin/sh")
        command = [program("netnice"), "-n", "2", str(renamed), "-c"]
        waiting = [*command, 'read line; "$@"', "sh", PYTHON, "-c", ASK]
        with (
            kernel.cgroup("browser-1.scope") as scope,
            subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as waits,
        ):
            wait_until(lambda: name(waits.pid) == "its-name", "it to begin")
            assert "its-name*: at level 0, without QUIC" in netnicectl("policy", "check", str(rules)).stdout
            netnicectl("policy", "apply", str(rules))
            assert len(programs()) == 4
            assert probe(*inside(scope)) == REFUSED
            later = scope.with_name("browser-2.scope")
            later.mkdir()
            assert probe(*inside(later)) == REFUSED
            assert "netnice2" in netnicectl("explain", str(waits.pid)).stdout
            assert json.loads(waits.communicate("go\n", timeout=30)[0]) == REFUSED
            assert probe(*command, '"$@"', "sh") == REFUSED, "nicer than the rule has it"
            assert all(rule["without_quic"] for rule in json.loads(netnicectl("policy", "show", "--json").stdout))
            rules.write_text("")
            netnicectl("policy", "apply", str(rules))
            assert probe(*inside(scope)) == PASSED
        assert probe() == PASSED


@contextlib.contextmanager
def site(where: Namespace) -> Iterator[Certificate]:
    """One with HTTP/3."""
    certificate = Certificate(where.address)
    words = (sys.executable, PROGRAMS / "http3.py", certificate.file, certificate.key)
    with where.spawn(*words, stdout=subprocess.PIPE) as server:
        server.line()
        yield certificate


@pytest.mark.verify("curl with HTTP/3 and a browser, which the quick tier's packages do not have")
class TestClients:
    """Each falls back to TCP, and at once."""

    @pytest.mark.parametrize("first", [[], ["netnice"], ["netnice", "--quic=tcp"]], ids=" ".join)
    def test_curl(self, up: None, pair: Pair, first: list[str]) -> None:
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
    def test_chromium(self, up: None, pair: Pair, *, quic: bool) -> None:
        with site(pair.b) as certificate, kernel.cgroup("browser.scope") as scope:
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
