# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Network niceness as an attribute of a process: a user raises it, only root lowers it, and no process is moved."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from system.harness import kernel, runtime
from system.harness.commands import (
    ALGORITHM,
    DROP,
    PYTHON,
    Pair,
    Run,
    children,
    end,
    group_of,
    marks,
    name,
    netnice,
    netnicectl,
    receiver,
)
from system.harness.commands import status as whole_status
from testbed import Process, program
from testbed.namespace import wait_until

#: Verbs and bits of algorithms/niceness/.
ASK, RAISE, SET = "0", "1", "2"
LEVEL_0, LEVEL_1, SENDS, RECEIVES = 1, 2, 8, 16
DONE = 0x100


@pytest.fixture
def nobody(as_nobody: Run) -> Run:
    """Runs netnice without any rights."""
    return lambda *words, **options: as_nobody("netnice", *words, **options)


def status() -> dict[str, Any]:
    found: dict[str, Any] = whole_status()["niceness"]
    return found


def asks(*words: str) -> list[str]:
    return [PYTHON, "ends.py", "asks", *words]


@pytest.mark.usefixtures("up")
class TestAnybody:
    @pytest.mark.parametrize("level", ALGORITHM)
    def test_what_they_start_yields(self, pair: Pair, for_users: Path, level: int) -> None:
        words = [*DROP, str(for_users / "netnice"), "-n", str(level)]
        port = pair.connect(client=words).port
        assert marks(pair.a, 4, "dport", port) == (ALGORITHM[level], 4)

    def test_what_they_accept_yields(self, pair: Pair, for_users: Path) -> None:
        port = pair.connect(6, server=[*DROP, str(for_users / "netnice"), "-n", "1", "--no-mark"]).port
        assert marks(pair.b, 6, "sport", port) == ("netnice1", 0)

    def test_they_stay_in_their_cgroup(self, nobody: Run) -> None:
        for run in (nobody, netnice):
            done = run("cat", "/proc/self/cgroup")
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout == Path("/proc/self/cgroup").read_text()

    def test_children_inherit_and_exec_keeps_it(self, nobody: Run) -> None:
        done = nobody("-n", "1", "--send-only", "sh", "-c", f"true; {PYTHON} ends.py gets; exit 0")
        assert json.loads(done.stdout) == ["netnice1", 4]

    def test_it_goes_with_the_process(self, nobody: Run) -> None:
        nobody("sh", "-c", "true & true & wait")
        wait_until(lambda: status()["processes"] == [], "the processes to be forgotten")

    def test_status_names_them(self, for_users: Path) -> None:
        with Process([*DROP, str(for_users / "netnice"), "-n", "1", "--send-only", "sleep", "600"]) as process:
            wait_until(lambda: bool(status()["processes"]), "the process to be nice")
            assert status()["processes"] == [{"pid": process.pid, "level": 1, "marked": True, "direction": "send"}]
            assert "nice by themselves, in whatever cgroup\n  processes        1\n" in netnicectl("status").stdout

    def test_status_counts_them_for_anybody(self, as_nobody: Run, for_users: Path) -> None:
        """Root's and a user's; one in a unit that is attached is closed to users."""
        with (
            kernel.cgroup() as unit,
            Process([program("netnice"), "-n", "1", "--send-only", "sleep", "600"]),
            Process([*DROP, str(for_users / "netnice"), "--send-only", "sleep", "600"]),
            Process(kernel.inside(unit, program("sleep"), "600")) as attached,
        ):
            netnicectl("attach", "-n", "2", unit.name)
            wait_until(lambda: len(status()["processes"]) == 2, "the processes to be nice")
            wait_until(lambda: group_of(attached.pid) == f"/{unit.name}", "the process to be in the unit")
            assert whole_status()["background"] == {"levels": [1, 1, 1], "with_attached": True}
            said = as_nobody("netnicectl", "status").stdout
            assert "processes in the background: 2 (level 0: 1, level 1: 1, level 2: 0); only root sees" in said

    def test_what_they_receive_yields(self, pair: Pair, for_users: Path) -> None:
        for words, more in ((["--receive-only"], 1), (["--send-only"], 0)):
            before = receiver()["connections"]
            pair.connect(client=[*DROP, str(for_users / "netnice"), *words])
            assert receiver()["connections"] == before + more, words

    def test_root_takes_it_away(self, for_users: Path) -> None:
        with Process([*DROP, str(for_users / "netnice"), "-n", "2", "--send-only", "sleep", "600"]) as process:
            wait_until(lambda: bool(status()["processes"]), "the process to be nice")
            pid = str(process.pid)
            assert netnice("-p", pid).stdout == "2 send only\n"
            netnice("-n", "off", "-p", pid)
            assert netnice("-p", pid).stdout == "foreground\n"
            assert status()["processes"] == []


@pytest.mark.usefixtures("up")
class TestNeverLessNice:
    def test_by_the_command(self, nobody: Run, for_users: Path) -> None:
        me = str(for_users / "netnice")
        assert nobody("-n", "2", "--send-only", me, "-n", "0", "--send-only", me).stdout == "2 send only\n"

    @pytest.mark.parametrize(("outer", "inner", "now"), [("2", 0, "netnice2"), ("0", 1, "netnice1")])
    def test_below_a_cgroup(self, for_users: Path, outer: str, inner: int, now: str) -> None:
        """Whichever of the two is nicer wins, also against a call by hand."""
        offset = 1 << 30 | int(RAISE) << 28 | (1 << inner | SENDS) << 22
        call = (
            f"import os, sys\ntry: os.pread(os.open('/proc/sys/kernel/ostype', 0), 512, {offset})\nexcept OSError: pass"
        )
        code = f"{call}\nos.execv(sys.executable, [sys.executable, 'ends.py', 'gets'])"
        done = netnice("-n", outer, "--send-only", *DROP, PYTHON, "-c", code, cwd=for_users)
        assert json.loads(done.stdout)[0] == now

    @pytest.mark.parametrize("calls", ["50000", pytest.param("1000000", marks=pytest.mark.verify("a second each"))])
    @pytest.mark.parametrize("verb", [RAISE, SET])
    @pytest.mark.parametrize(
        "before",
        [(), ("unshare", "--user", "--map-root-user", "--net", "--pid", "--fork"), ("setpriv", "--no-new-privs")],
    )
    def test_by_many_calls(self, nobody: Run, for_users: Path, calls: str, verb: str, before: tuple[str, ...]) -> None:
        """The call itself, in a namespace with all capabilities too."""
        me = str(for_users / "netnice")
        lower = " ".join(asks(verb, str(LEVEL_0 | SENDS), calls))
        script = f"{lower}; {' '.join(asks(SET, '0'))}; {me}"
        done = nobody("-n", "1", "--send-only", *before, "sh", "-c", script)
        answer, off, now = done.stdout.splitlines()
        assert answer == (str(DONE + LEVEL_1 + SENDS) if verb == RAISE else "EPERM"), done.stderr
        assert (off, now) == ("EPERM", "1 send only")

    def test_not_others(self, nobody: Run, for_users: Path) -> None:
        with Process([program("sleep"), "600"]) as theirs:
            for verb in (RAISE, SET):
                offset = 1 << 30 | int(verb) << 28 | (LEVEL_0 | SENDS) << 22 | theirs.pid
                code = f"import os; os.pread(os.open('/proc/sys/kernel/ostype', 0), 512, {offset})"
                done = subprocess.run([*DROP, PYTHON, "-c", code], capture_output=True, text=True, check=False)
                assert "PermissionError" in done.stderr
            assert nobody("-p", str(theirs.pid)).stdout == "foreground\n"

    @pytest.mark.parametrize("niceness", [0, LEVEL_0, SENDS, RECEIVES | SENDS])
    def test_nonsense(self, for_users: Path, niceness: int) -> None:
        argv = [*DROP, *asks(RAISE, str(niceness))]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=for_users)
        assert done.stdout == (f"{DONE}\n" if niceness == 0 else "EINVAL\n")

    def test_by_races(self, nobody: Run, for_users: Path) -> None:
        """Children and calls at once; no reader sees it lower."""
        me, loop = str(for_users / "netnice"), " ".join(asks(SET, str(LEVEL_0 | SENDS), "30000"))
        script = f"{loop} & {loop} & {loop} & for i in $(seq 100); do {me}; done; wait"
        done = nobody("-n", "1", "--send-only", "sh", "-c", script)
        assert done.stdout.count("EPERM") == 3
        assert re.findall(r"foreground|\d[a-z ]*", done.stdout) == ["1 send only"] * 100


@pytest.mark.usefixtures("up")
class TestOnesOwn:
    """Processes that run already, by -p, without any rights."""

    def test_nicer_with_the_connections_they_have(self, nobody: Run, pair: Pair, for_users: Path) -> None:
        client, _, port = pair.connect(client=DROP)
        pid = str(client.pid)
        for level in ("0", "2"):
            done = nobody("-n", level, "--send-only", "-p", pid)
            assert done.returncode == 0, done.stderr
            assert nobody("-p", pid).stdout == f"{level} send only\n"
            assert marks(pair.a, 4, "dport", port) == (ALGORITHM[int(level)], 4)
        for level in ("1", "off"):
            done = nobody("-n", level, "--send-only", "-p", pid)
            assert done.returncode == 125
            assert "only root can make it less nice, as with nice(1)" in done.stderr
            assert "Run the same command with sudo, or start the program again." in done.stderr
        assert nobody("-p", pid).stdout == "2 send only\n"

    def test_below_what_the_administrator_has_attached(self, nobody: Run, pair: Pair, for_users: Path) -> None:
        """A connection that its unit has at level 2, of a process that its user puts at level 0."""
        with kernel.cgroup() as unit:
            netnicectl("attach", "-n", "2", unit.name)
            client, _, port = pair.connect(client=kernel.inside(unit, *DROP))
            done = nobody("-n", "0", "--send-only", "-p", str(client.pid))
            assert done.returncode == 0, done.stderr
            assert marks(pair.a, 4, "dport", port) == ("netnice2", 4)
            client.end()

    def test_descendants_that_are_nicer_stay_so(self, nobody: Run, for_users: Path) -> None:
        me = for_users / "netnice"
        script = f"{me} -n 2 --send-only sleep 600 & sleep 600 & wait"
        with Process([*DROP, "sh", "-c", script]) as shell:
            wait_until(lambda: [name(pid) for pid in children(shell.pid)] == ["sleep", "sleep"], "its children")
            said = nobody("-n", "1", "--send-only", "-d", "-p", str(shell.pid))
            assert said.returncode == 0, said.stderr
            levels = [nobody("-p", str(child)).stdout[0] for child in children(shell.pid)]
            assert sorted(levels) == ["1", "2"]

    def test_by_the_numbers_of_a_namespace(self, nobody: Run, for_users: Path) -> None:
        """There 2 is its child, and not the kernel's thread."""
        me = for_users / "netnice"
        script = f"sleep 600 & {me} -n 2 --send-only -p $!; echo $!; {me} -p $!; read line; kill $!"
        apart = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
        with subprocess.Popen(
            [*DROP, *apart, "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as inner:
            assert inner.stdout is not None
            assert inner.stdout.readline() == "2\n"
            assert inner.stdout.readline() == "2 send only\n"
            (nice,) = [process["pid"] for process in status()["processes"]]
            assert name(nice) == "sleep"
            inner.communicate("\n", timeout=10)

    def test_not_those_of_another_or_none(self, for_users: Path) -> None:
        """The call itself: a number that no process has, that of a thread, and root's."""
        code = "import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()"
        with Process([*DROP, PYTHON, "-c", code]) as own, Process([program("sleep"), "600"]) as theirs:
            tasks = Path(f"/proc/{own.pid}/task")
            wait_until(lambda: len(list(tasks.iterdir())) == 2, "its thread")
            (thread,) = {int(task.name) for task in tasks.iterdir()} - {own.pid}
            nice = DONE + LEVEL_0 + SENDS
            for pid, answer in ((own.pid, nice), (thread, 3), ((1 << 22) - 1, 3), (theirs.pid, 1)):
                offset = 1 << 30 | int(RAISE) << 28 | (LEVEL_0 | SENDS) << 22 | pid
                call = f"os.pread(os.open('/proc/sys/kernel/ostype', 0), 512, {offset})"
                caught = f"import os\ntry: {call}\nexcept OSError as e: print(e.errno)"
                done = subprocess.run([*DROP, PYTHON, "-c", caught], capture_output=True, text=True, check=True)
                assert done.stdout == f"{answer}\n", pid


@pytest.mark.usefixtures("up")
def test_a_sysctl_is_still_read() -> None:
    assert Path("/proc/sys/kernel/ostype").read_text() == "Linux\n"


@pytest.mark.usefixtures("fresh")
def test_a_full_map_is_said_and_forgets_nobody(nobody: Run, for_users: Path, tmp_path: Path) -> None:
    """Filled by root with numbers that no process has."""
    with Process([*DROP, str(for_users / "netnice"), "--send-only", "sleep", "600"]) as first:
        wait_until(lambda: bool(status()["processes"]), "the process to be nice")
        pin = kernel.MAPS / "processes"
        batch = tmp_path / "batch"
        keys = (number.to_bytes(4, sys.byteorder).hex(" ") for number in range(1 << 23, (1 << 23) + 65_535))
        batch.write_text("".join(f"map update pinned {pin} key hex {key} value hex 09 00 00 00\n" for key in keys))
        subprocess.run([program("bpftool"), "batch", "file", str(batch)], check=True, stdout=subprocess.DEVNULL)
        done = nobody("--strict", "--send-only", "true")
        assert done.returncode == 125
        assert "there is no room" in done.stderr
        found = status()
        assert found["refused"] == 1
        assert first.pid in [process["pid"] for process in found["processes"]]


class TestUpAndDown:
    def test_after_down_nobody_answers(self, down: dict[int, str], nobody: Run) -> None:
        netnicectl("up")
        netnicectl("down")
        done = nobody("--strict", "--send-only", "true")
        assert done.returncode == 125
        assert "only root can load it" in done.stderr
        kernel.assert_nothing_remains(down)

    @pytest.mark.usefixtures("fresh")
    def test_a_replacement_keeps_who_is_nice(self, for_users: Path) -> None:
        with Process([*DROP, str(for_users / "netnice"), "-n", "2", "--send-only", "sleep", "600"]):
            wait_until(lambda: bool(status()["processes"]), "the process to be nice")
            before = status()["processes"]
            assert "replaced" in netnicectl("up", "--with", "nnreno").stdout
            assert status()["processes"] == before

    def test_without_marks_nobody_marks(self, down: dict[int, str], nobody: Run) -> None:
        netnicectl("up", "--no-mark")
        done = nobody("--send-only", PYTHON, "ends.py", "gets")
        assert json.loads(done.stdout) == ["netnice", 0]

    @pytest.mark.usefixtures("down")
    def test_somebody_else_at_the_root(self, nobody: Run) -> None:
        """Root's levels work as ever; the others, and the administrator, are told why not."""
        with runtime.alone_at_the_root():
            for said in ("up\n", "already up\n"):
                done = netnicectl("up")
                assert done.stdout == said
                assert "lets no other join" in done.stderr
            (found,) = [
                one for one in json.loads(netnicectl("doctor", "--json").stdout) if one["name"] == "root of the cgroups"
            ]
            assert found["verdict"] == "note"
            assert f"Held by '{runtime.EMPTY}' (eBPF program " in found["state"]
            done = netnice(*end("gets", python=PYTHON))
            assert json.loads(done.stdout) == ["netnice", 4]
            refused = nobody("--strict", "--send-only", "true")
            assert refused.returncode == 125
            assert "without root it cannot be used on this machine" in refused.stderr
            ran = nobody("--send-only", "echo", "ran")
            assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (0, "ran\n", 1)
            assert "only root can use it: the kernel refused to attach 'netnice_socket'" in netnicectl("status").stdout


@pytest.mark.usefixtures("up")
def test_many_at_once(for_users: Path) -> None:
    """Two thousand processes that become nice and end: none is left in the map."""

    def some() -> None:
        for _ in range(50):
            script = f"{for_users / 'netnice'} --send-only sh -c 'for i in 1 2 3 4 5 6 7 8 9; do true & done; wait'"
            subprocess.run([*DROP, "sh", "-c", script], check=True)

    threads = [threading.Thread(target=some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: status()["processes"] == [], "all of them to be forgotten")
