# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice -n LEVEL: what a command's connections run on, and which user may ask for which level.

netnice --self, and rules with inherit = false: a launcher is in the background, and what it starts is not.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.clock import ahead, hours
from system.harness.commands import (
    ALGORITHM,
    DROP,
    PROGRAMS,
    PYTHON,
    Pair,
    Run,
    as_user,
    descendants,
    end,
    end_as_text,
    group_of,
    marks,
    name,
    netnice,
    netnicectl,
    runs_on,
)
from testbed import Process, program, scratch
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("level", ALGORITHM)
class TestConnections:
    """Active and passive, IPv4 and IPv6; the passive end listens on ::, so its IPv4 is v4-mapped."""

    def test_of_a_client(self, pair: Pair, level: int, version: int) -> None:
        port = pair.connect(version, client=["netnice", "-n", str(level)]).port
        assert marks(pair.a, version, "dport", port) == (ALGORITHM[level], 4)
        assert marks(pair.b, version, "sport", port) == ("cubic", 0), "not the other end"

    def test_of_a_server(self, pair: Pair, level: int, version: int) -> None:
        port = pair.connect(version, server=["netnice", "-n", str(level)]).port
        assert marks(pair.b, version, "sport", port) == (ALGORITHM[level], 4)
        assert marks(pair.a, version, "dport", port) == ("cubic", 0), "not the other end"


class TestNested:
    @pytest.mark.parametrize(
        ("outer", "inner", "now"), [("0", "1", "1"), ("1", "0", "1"), ("2", "0", "2"), ("0", "2", "2")]
    )
    def test_never_less_nice(self, outer: str, inner: str, now: str) -> None:
        me = program("netnice")
        assert netnice("-n", outer, me, "-n", inner, me).stdout == f"{now}\n"

    def test_without_a_level_it_stays(self) -> None:
        me = program("netnice")
        assert netnice("-n", "2", me, me).stdout == "2\n"

    def test_every_kind_of_a_level(self) -> None:
        me = program("netnice")
        assert netnice("-n", "1", "--no-mark", me).stdout == "1 unmarked\n"
        assert netnice("-n", "2", "--send-only", me).stdout == "2 send only\n"
        assert netnice("--receive-only", me).stdout == "0 receive only\n"
        assert netnice("--receive-only", me, "--send-only", me).stdout == "0\n", "they add up"

    def test_off_is_for_processes(self) -> None:
        done = netnice("-n", "off", "true", check=False)
        assert done.returncode == 125
        assert "'off' is no level to run a command at" in done.stderr


@pytest.fixture
def sleeper() -> Iterator[Process]:
    """A process of the user `nobody`, in the foreground."""
    with Process([*DROP, program("sleep"), "600"]) as process:
        wait_until(lambda: name(process.pid) == "sleep", "it to run")
        yield process


@pytest.fixture
def open_groups(up: None) -> None:
    """The administrator lets every user move processes between the levels; gone with the next down."""
    parent = kernel.cgroup_root() / "netnice"
    for procs in [parent / "cgroup.procs", *parent.glob("*/cgroup.procs")]:
        procs.chmod(0o666)


class TestWithoutRights:
    @pytest.mark.parametrize("user", [0, 65533])
    def test_not_the_processes_of_others(self, as_nobody: Run, user: int) -> None:
        with Process([*as_user(user), program("sleep"), "600"]) as theirs:
            wait_until(lambda: name(theirs.pid) == "sleep", "it to run")
            before = group_of(theirs.pid)
            for level in ("2", "off"):
                done = as_nobody("netnice", "-n", level, "-p", str(theirs.pid))
                assert done.returncode == 125
                assert "belongs to another user: only root may move it" in done.stderr
            assert group_of(theirs.pid) == before
            assert netnice("-p", str(theirs.pid)).stdout == "foreground\n"

    def test_their_own_into_the_background_and_not_back(self, as_nobody: Run, sleeper: Process) -> None:
        pid, before = str(sleeper.pid), group_of(sleeper.pid)
        done = as_nobody("netnice", "-n", "0", "--send-only", "-p", pid)
        assert (done.returncode, done.stderr) == (0, "")
        done = as_nobody("netnice", "-n", "off", "-p", pid)
        assert done.returncode == 125
        assert "only root can make it less nice" in done.stderr
        assert as_nobody("netnice", "-p", pid).stdout == "0 send only\n"
        assert group_of(sleeper.pid) == before

    @pytest.mark.usefixtures("open_groups")
    def test_nicer_where_the_administrator_lets_them(self, as_nobody: Run, sleeper: Process) -> None:
        pid = str(sleeper.pid)
        (kernel.cgroup_root() / "netnice" / "level1" / "cgroup.procs").write_text(pid)
        for level in ("0", "off"):
            done = as_nobody("netnice", "-n", level, "-p", pid)
            assert done.returncode == 125
            assert "is at level 1: only root can make it less nice" in done.stderr
        assert as_nobody("netnice", "-p", pid).stdout == "1\n"
        done = as_nobody("netnice", "-n", "2", "-p", pid)
        assert (done.returncode, done.stderr) == (0, "")
        assert as_nobody("netnice", "-p", pid).stdout == "2\n"


#: What a rule names.
NAME = "nnt-launcher"


@pytest.fixture
def launcher() -> Iterator[Path]:
    found = scratch("launcher") / NAME
    shutil.copy(PROGRAMS / "launcher.py", found)
    found.chmod(0o755)
    yield found


def serves(pair: Pair, launcher: Path, first: Sequence[str] = ()) -> tuple[list[str], str]:
    """What the launcher and its fork are given, and a connection that its server has accepted."""
    words = [*first, str(launcher), *end_as_text("listen", python=PYTHON)]
    with pair.b.spawn(*words, stdout=subprocess.PIPE) as server:
        own: list[str] = json.loads(server.line())
        port = int(server.line())
        with pair.end(pair.a, "connect", pair.b4, str(port)) as client:
            client.line()
            return own, marks(pair.b, 4, "sport", port)[0]


def rule(inherit: str) -> None:
    file = scratch("launcher") / "policy.toml"
    file.write_text(f'[[rule]]\ncommand = "{NAME}"\n{inherit}\n')
    netnicectl("policy", "apply", str(file))


class TestLaunchers:
    def test_by_command(self, pair: Pair, launcher: Path) -> None:
        assert serves(pair, launcher, [program("netnice"), "--self"]) == (["netnice", "netnice"], "cubic")
        assert serves(pair, launcher, [program("netnice")]) == (["netnice", "netnice"], "netnice")

    def test_by_rule(self, pair: Pair, launcher: Path) -> None:
        rule("inherit = false")
        assert serves(pair, launcher) == (["netnice", "netnice"], "cubic")
        rule("inherit = true")
        assert serves(pair, launcher) == (["netnice", "netnice"], "netnice")

    def test_a_rule_that_runs_programs_of_its_own_name(self, launcher: Path) -> None:
        """As podman executes itself."""
        rule("inherit = false")
        script = f"{launcher} {launcher} cat /dev/null"
        done = subprocess.run([program("sh"), "-c", script], capture_output=True, text=True, check=True)
        assert [json.loads(line) for line in done.stdout.splitlines()] == [["netnice", "netnice"]] * 2

    def test_what_runs_already(self) -> None:
        """-p with --self, and what explain says of it."""
        with Process([program("sh"), "-c", "sleep 600 & wait"]) as shell:
            wait_until(lambda: Path(f"/proc/{shell.pid}/comm").read_text() == "sh\n", "it to run")
            netnice("--self", "-n", "1", "-p", str(shell.pid))
            said = netnicectl("explain", str(shell.pid)).stdout
            assert "by itself        1, without programs that it starts" in said
            netnice("-n", "1", "-p", str(shell.pid))
            assert "by itself        1\n" in netnicectl("explain", str(shell.pid)).stdout


class TestContainers:
    """As `podman run --detach` does it: by a rule, what the engine fetches yields, and its container serves people."""

    @pytest.mark.parametrize(
        ("inherit", "monitors", "served"), [("inherit = false", "cubic", "cubic"), ("", "netnice", "netnice")]
    )
    def test_a_container_outlives_its_engine(self, pair: Pair, inherit: str, monitors: str, served: str) -> None:
        engine, conmon = (scratch("engine") / name for name in (NAME, "nnt-conmon"))
        for copy in (engine, conmon):
            shutil.copy(PYTHON, copy)
        rule(inherit)
        words = [str(engine), str(PROGRAMS / "engine.py"), str(conmon), *end_as_text("listen", python=PYTHON)]
        with pair.b.spawn(*words, stdout=subprocess.PIPE) as podman:
            own, (monitor, given) = podman.line().split(), podman.line().split()
            try:
                assert (own, given) == ([str(podman.pid), "netnice"], monitors)
                port = int(podman.line())
                wait_until(lambda: not podman.running(), "the engine to end")
                with pair.end(pair.a, "connect", pair.b4, str(port)) as client:
                    client.line()
                    assert marks(pair.b, 4, "sport", port)[0] == served
            finally:
                for pid in [*descendants(int(monitor)), int(monitor)]:
                    os.kill(pid, signal.SIGKILL)


class TestUntil:
    """The same with an end: what the launcher starts is in the foreground before it, too."""

    SECONDS = 4

    def returns(self, pair: Pair, begun: float, words: Sequence[str]) -> None:
        """Words that connect: in the background until that end, with the connection in use."""
        with pair.a.spawn(*words, stdout=subprocess.PIPE) as client:
            client.line()
            assert runs_on(pair.a) == ["netnice"]
            wait_until(lambda: runs_on(pair.a) == ["cubic"], "the connection to be in the foreground", seconds=10)
            # A moment of the wall clock is written in whole seconds.
            assert -1.5 < time.time() - begun - self.SECONDS < 1.5
            wait_until(lambda: netnice("-p", str(client.pid)).stdout == "foreground\n", "new ones to be there, too")

    def test_by_command(self, pair: Pair, launcher: Path) -> None:
        until = [program("netnice"), "--until", ahead(60)]
        assert serves(pair, launcher, [*until, "--self"]) == (["netnice", "netnice"], "cubic")
        assert serves(pair, launcher, until) == (["netnice", "netnice"], "netnice")

    def test_its_end_by_command(self, pair: Pair) -> None:
        with pair.end(pair.b, "listen") as server:
            begun, port = time.time(), server.line().strip()
            self.returns(
                pair,
                begun,
                [program("netnice"), "--until", ahead(self.SECONDS), "--self", *end("connect", pair.b4, port)],
            )

    def test_by_rule(self, pair: Pair, launcher: Path) -> None:
        rule(f"inherit = false\n{hours(-1, 60)}")
        assert serves(pair, launcher) == (["netnice", "netnice"], "cubic")
        rule(f"inherit = false\n{hours(60, 120)}")
        assert serves(pair, launcher) == (["cubic", "cubic"], "cubic")

    def test_its_end_by_rule(self, pair: Pair) -> None:
        named = scratch("launcher") / NAME
        shutil.copy(PYTHON, named)
        with pair.end(pair.b, "listen") as server:
            port, begun = server.line().strip(), time.time()
            rule(f"inherit = false\n{hours(-1, self.SECONDS)}")
            self.returns(pair, begun, end_as_text("connect", pair.b4, port, python=str(named)))


class TestRights:
    @pytest.mark.parametrize(("outer", "shown"), [(("--self",), "foreground"), ((), "0")])
    def test_the_background_is_not_left(
        self, as_nobody: Run, for_users: Path, outer: Sequence[str], shown: str
    ) -> None:
        """A user in the background stays there with --self, with what it starts."""
        inner = f"{for_users}/netnice --self sh -c '{for_users}/netnice; true'"
        done = as_nobody("netnice", *outer, "sh", "-c", f"{inner}; true")
        assert done.stdout == f"{shown}\n"

    def test_strict(self) -> None:
        assert netnice("--strict", "--self", "sh", "-c", "true").returncode == 0


def test_check_warns_of_launchers() -> None:
    file = scratch("launcher") / "policy.toml"
    file.write_text('[[rule]]\ncommand = "podman"\n')
    assert "warning: 'podman' starts containers" in netnicectl("policy", "check", str(file)).stdout
    file.write_text('[[rule]]\ncommand = "podman"\ninherit = false\n')
    said = netnicectl("policy", "check", str(file)).stdout
    assert "warning" not in said
    assert "programs named podman: at level 0, without what they start, when they begin, and those that run" in said
