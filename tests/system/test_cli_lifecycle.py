# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Up and down: again, at once, killed at any step, upgraded, with connections alive."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import Done, Pair, call, end, netnice, netnicectl, runs_on, status
from system.harness.kernel import rewrite_state
from testbed import program, sockets
from testbed.namespace import wait_until
from testbed.reservation import VARIABLE

TOP = Path(__file__).parents[2]

UP = [
    "locked", "bpffs-mounted", "stale-removed", "pins-made", "sender-loaded", "params-pinned",
    "sender-registered", "sender-pinned", "policy-loaded", "cgroup-made", "policy-attached",
    "policy-pinned", "receiver-loaded", "receiver-attached", "niceness-attached", "state-pinned",
]  # fmt: skip
DOWN = ["locked", "state-removed", "links-removed", "pins-removed", "cgroups-removed", "bpffs-unmounted"]
#: After these the quick tier kills them, too: little is there, half of it, nearly all.
QUICK = ("bpffs-mounted", "policy-pinned", "niceness-attached", "state-removed", "links-removed", "cgroups-removed")


def steps(done: Done) -> list[str]:
    lines = [line.removeprefix("netnicectl: ") for line in done.stderr.splitlines()]
    return list(dict.fromkeys(lines))


def kill_at(step: str, *words: str) -> None:
    """Runs netnicectl until it stops itself after a step, and kills it there."""
    process = stopped_at(step, *words)
    process.kill()
    process.wait()


def stopped_at(step: str, *words: str) -> subprocess.Popen[bytes]:
    """It has stopped itself there."""
    argv = [program("netnicectl"), *words]
    process = subprocess.Popen(argv, env={**os.environ, "NETNICE_STOP_AT": step}, stdout=subprocess.DEVNULL)
    stat = Path(f"/proc/{process.pid}/stat")
    wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", f"the step {step}")
    return process


def assert_works() -> None:
    """What is loaded does its work: a new connection is on nice, and marked."""
    done = call("netnice", *end("gets"))
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["netnice", 4]
    assert status()["condition"] == "up"


@pytest.mark.usefixtures("down")
class TestAgain:
    def test_up_twice(self) -> None:
        assert netnicectl("up").stdout == "up\n"
        before = (kernel.LINKS / "sender-netnice").stat().st_ino
        assert netnicectl("up").stdout == "already up\n"
        assert (kernel.LINKS / "sender-netnice").stat().st_ino == before
        assert_works()

    def test_down_twice(self, down: dict[int, str]) -> None:
        netnicectl("up")
        assert netnicectl("down").stdout == "down\n"
        assert netnicectl("down").stdout == "already down\n"
        kernel.assert_nothing_remains(down)

    def test_up_with_other_options(self) -> None:
        netnicectl("up")
        assert "with other options" in netnicectl("up", "--with", "nnvegas,nnreno").stdout
        assert {"netnice", "nnvegas", "nnreno"} <= set(kernel.registered())
        assert netnicectl("up", "--with", "nnreno,nnvegas").stdout == "already up\n"
        netnicectl("up")
        assert not {"nnvegas", "nnreno"} & set(kernel.registered())

    def test_an_algorithm_that_does_not_exist(self, down: dict[int, str]) -> None:
        done = netnicectl("up", "--with", "bogus", check=False)
        assert done.returncode == 1
        assert "no algorithm is named 'bogus'; there are: netnice, " in done.stderr
        kernel.assert_nothing_remains(down)

    def test_no_mark_for_the_machine(self) -> None:
        netnicectl("up", "--no-mark")
        assert json.loads(netnice(*end("gets")).stdout) == ["netnice", 0]

    def test_no_mark_for_a_command(self) -> None:
        netnicectl("up")
        assert json.loads(netnice("--no-mark", *end("gets")).stdout) == ["netnice", 0]

    def test_an_upgrade_replaces_what_is_loaded(self) -> None:
        netnicectl("up")
        rewrite_state(build_id="0" * 64)
        assert "other build" in netnicectl("show", check=False).stderr.replace("another", "other")
        assert "by another build" in netnicectl("up").stdout
        assert netnicectl("up").stdout == "already up\n"
        assert_works()


@pytest.mark.usefixtures("fresh")
class TestDamage:
    """What an administrator may do by hand."""

    def test_a_cgroup_removed(self) -> None:
        (kernel.cgroup_root() / "netnice" / "level0").rmdir()
        assert "level0 has lost its policy" in netnicectl("up").stdout
        assert_works()

    def test_a_cgroup_removed_and_made_again(self) -> None:
        level = kernel.cgroup_root() / "netnice" / "level0"
        level.rmdir()
        level.mkdir()
        assert "level0 has lost its policy" in netnicectl("up").stdout
        assert_works()

    def test_a_link_removed(self) -> None:
        (kernel.LINKS / "sender-netnice").unlink()
        wait_until(lambda: "netnice" not in kernel.registered(), "the name to go")
        assert "'netnice' is no longer registered" in netnicectl("up").stdout
        assert_works()

    def test_a_cgroup_removed_is_mended_by_netnice(self) -> None:
        (kernel.cgroup_root() / "netnice" / "level0").rmdir()
        assert "loaded into the kernel" in netnice("true").stderr
        assert_works()


def one_each(all_of_them: list[str]) -> pytest.MarkDecorator:
    late = pytest.mark.verify("each takes seconds")
    return pytest.mark.parametrize("step", [s if s in QUICK else pytest.param(s, marks=late) for s in all_of_them])


@pytest.mark.usefixtures("down")
class TestKilled:
    def test_these_are_all_the_steps(self) -> None:
        assert steps(netnicectl("up", "--verbose")) == UP
        assert steps(netnicectl("down", "--verbose")) == DOWN

    @one_each(UP)
    def test_while_coming_up(self, down: dict[int, str], step: str) -> None:
        """Another up mends it, and a down leaves nothing of it."""
        kill_at(step, "up")
        assert netnicectl("up").stdout.startswith(("up", "already up" if step == UP[-1] else "up"))
        assert_works()
        netnicectl("down")
        kernel.assert_nothing_remains(down)
        kill_at(step, "up")
        netnicectl("down")
        kernel.assert_nothing_remains(down)

    @one_each(DOWN)
    def test_while_going_down(self, down: dict[int, str], step: str) -> None:
        netnicectl("up")
        kill_at(step, "down")
        netnicectl("up")
        assert_works()
        kill_at(step, "down")
        netnicectl("down")
        kernel.assert_nothing_remains(down)

    def test_netnice_mends_an_unfinished_up(self) -> None:
        kill_at("policy-pinned", "up")
        assert "loaded into the kernel" in netnice("true").stderr
        assert_works()

    def test_status_tells_an_unfinished_up(self) -> None:
        kill_at("sender-pinned", "up")
        done = netnicectl("status", check=False)
        assert done.returncode == 3
        assert "incomplete" in done.stdout

    @pytest.mark.verify("25 kills")
    def test_at_any_moment(self, down: dict[int, str]) -> None:
        moments = random.Random(2)
        for _ in range(25):
            process = subprocess.Popen([program("netnicectl"), "up"], stdout=subprocess.DEVNULL)
            time.sleep(moments.uniform(0, 0.6))
            process.kill()
            process.wait()
            if moments.random() < 0.5:
                netnicectl("down")
        netnicectl("up")
        assert_works()
        netnicectl("down")
        kernel.assert_nothing_remains(down)


@pytest.mark.usefixtures("down")
class TestAtOnce:
    def test_two_netnice(self) -> None:
        argv = [program("netnice"), program("netnice")]
        both = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = [process.communicate(timeout=30) for process in both]
        assert [out for out, _ in said] == ["0\n", "0\n"]
        assert sorted(len(err.splitlines()) for _, err in said) == [0, 1]
        assert_works()

    def test_many_ups_and_downs(self) -> None:
        words = ["up", "down"] * 4
        all_of_them = [subprocess.Popen([program("netnicectl"), w], stdout=subprocess.DEVNULL) for w in words]
        assert [process.wait(60) for process in all_of_them] == [0] * len(words)
        netnicectl("up")
        assert_works()

    def test_a_stopped_up_is_named(self) -> None:
        """The second one waits for the first; the lock goes with its holder."""
        holder = stopped_at("locked", "up")
        second = subprocess.Popen([program("netnicectl"), "up"], stdout=subprocess.PIPE, text=True)
        time.sleep(0.3)
        assert second.poll() is None
        holder.send_signal(signal.SIGCONT)
        assert holder.wait(30) == 0
        assert second.communicate(timeout=30)[0] == "already up\n"


class TestDownWithLiveConnections:
    def test_they_carry_on(self, fresh: dict[int, str], pair: Pair, static_upload: Path) -> None:
        size = 30_000_000
        sink = pair.end(pair.b, "sink", "10e6")
        port = int(sink.line())
        upload = pair.a.spawn("netnice", static_upload, pair.b4, str(port), str(size))
        wait_until(lambda: runs_on(pair.a, peer=port) == ["netnice"], "the upload")
        assert netnicectl("down").stdout == "down; 1 process is in the foreground again\n"
        assert "netnice" not in kernel.registered()
        assert runs_on(pair.a, peer=port) == ["cubic"]
        upload.wait(timeout=60)
        assert upload.returncode == 0
        assert json.loads(sink.line()) == [size, hashlib.sha256(bytes(size)).hexdigest()]
        kernel.assert_nothing_remains(fresh)

    @pytest.mark.usefixtures("fresh")
    def test_up_again_beside_them(self, pair: Pair) -> None:
        port = pair.connect(client=["netnice"]).port
        netnicectl("down")
        netnicectl("up")
        assert runs_on(pair.a, peer=port) == ["cubic"]
        assert_works()

    @pytest.mark.usefixtures("fresh")
    def test_up_again_beside_those_that_no_process_has(self, pair: Pair) -> None:
        """What a program had sent before it ended goes on by the algorithm it ran on."""

        def left() -> list[str]:
            found = sockets(pair.a, peer_port=port)
            return [one.congestion_control for one in found if one.state == "FIN-WAIT-1"]

        def stuck() -> bool:
            """Is the peer's buffer full, too? What is unsent then lasts for ten seconds and more."""
            before = sockets(pair.a, peer_port=port)[0].number("bytes_acked")
            time.sleep(0.5)
            (now,) = sockets(pair.a, peer_port=port)
            return now.number("notsent") > 20_000 and now.number("bytes_acked") == before

        port = int(pair.end(pair.b, "sink", "2e3").line())
        sender = pair.a.spawn("netnice", *end("send", pair.b4, str(port), "netnice", "600"))
        wait_until(lambda: runs_on(pair.a, peer=port) == ["netnice"], "the connection")
        wait_until(stuck, "full buffers", seconds=20)
        sender.end()
        assert left() == ["netnice"]
        netnicectl("down")
        assert left() == ["netnice"]
        netnicectl("up")
        assert left() == ["netnice"]
        assert_works()


def test_another_session_waits_for_this_one() -> None:
    """What this one starts does not."""
    reserve = [
        sys.executable,
        "-c",
        "from testbed.reservation import reserved\nwith reserved('other'): print('has it')",
    ]
    assert subprocess.run(reserve, capture_output=True, text=True, check=True, cwd=TOP).stdout == "has it\n"
    elsewhere = {name: value for name, value in os.environ.items() if name != VARIABLE}
    with subprocess.Popen(reserve, cwd=TOP, env=elsewhere, stderr=subprocess.PIPE, text=True) as other:
        assert other.stderr is not None
        said = other.stderr.readline()
        other.kill()
    assert said == f"waiting for PID {os.getpid()} (tests/system), which has reserved netnice on this machine\n"
