# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice --at-least RATE: connections that have a rate together, and below it do not yield.

The lab has the figures, in both directions, beside long flows and documents (at-least-flows, at-least-documents).
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.harness import kernel
from system.harness.commands import DROP, PYTHON, Pair, name, netnice, netnicectl, status
from system.harness.path import Day, Trial
from testbed import Process, program, scratch, sockets
from testbed.namespace import wait_until

FLOOR = 2_000_000
BINDING = Path(__file__).parents[2] / "bindings" / "python" / "background.py"


@pytest.fixture
def group() -> Iterator[Path]:
    """A cgroup of a name of its own."""
    with kernel.cgroup("floor.service") as folder:
        yield folder


def floors() -> list[dict[str, Any]]:
    """The floors of processes, as status has them."""
    return list(status()["floors"])


def at_least(pid: int) -> int | None:
    """What its sockets have at least from now on, bit/s."""
    found = json.loads(netnicectl("explain", "--json", str(pid)).stdout).get("floor")
    return found["at_least"] if found else None


def sleeping(pair: Pair, *words: str, by: str = "sleep") -> Process:
    """A program that waits, once it is no longer the one that starts it."""
    process = pair.a.spawn(*words, by, "60")
    wait_until(lambda: name(process.pid) == Path(by).name, "the program")
    return process


def test_it_is_kept_beside_a_download(up: None, trial: Trial) -> None:
    """Of 10 Mbit/s, from five seconds after the download began."""

    def work(day: Day) -> tuple[float, float]:
        rates = []
        for words in (("netnice",), ("netnice", "--at-least", "2mbit")):
            with day.arriving_uploads() as arrived, day.uploads(1, *words):
                wait_until(lambda: len(sockets(day.a, peer_port=day.store.port)) > 0, "the upload")
                time.sleep(1)
                with day.download() as download:
                    time.sleep(5)
                    start = time.monotonic()
                    time.sleep(5)
                    rates.append(arrived.rate(start, start + 4.8))
                    download.signal(signal.SIGKILL)
        return rates[0], rates[1]

    without, kept = trial.on_a_path(work)
    assert kept > 2 * without
    assert kept > FLOOR / 2
    trial("an upload with a floor of 2 Mbit/s beside a download, of the floor", kept / FLOOR, "×", least=0.9)


@pytest.mark.usefixtures("up")
class TestProcesses:
    def test_what_it_starts_shares_it_and_the_last_takes_it_along(self, pair: Pair) -> None:
        with pair.a.spawn("netnice", "--at-least", "5mbit", "sh", "-c", "sleep 60 & sleep 60; :") as shell:
            wait_until(lambda: [len(one["processes"]) for one in floors()] == [3], "both children")
            assert floors()[0]["at_least"] == 5_000_000
            assert at_least(shell.pid) == 5_000_000
            assert f"process {shell.pid}" in netnicectl("status").stdout
        wait_until(lambda: not floors(), "the floor to go")

    def test_each_command_has_its_own(self, pair: Pair) -> None:
        with sleeping(pair, "netnice", "--at-least", "1mbit"), sleeping(pair, "netnice", "--at-least", "1mbit"):
            wait_until(lambda: [len(one["processes"]) for one in floors()] == [1, 1], "both")

    def test_a_user_may_ask_but_not_from_the_background(self, pair: Pair) -> None:
        with sleeping(pair, *DROP, program("netnice"), "--at-least", "1mbit") as process:
            wait_until(lambda: at_least(process.pid) == 1_000_000, "the floor")
        inner = (*DROP, program("netnice"), "--strict", "--at-least", "9mbit", "true")
        done = subprocess.run([program("netnice"), *inner], capture_output=True, text=True, check=False)
        assert done.returncode == 125
        assert "only root may give it a floor there" in done.stderr
        assert not floors()

    def test_a_running_process_takes_root(self, pair: Pair) -> None:
        with sleeping(pair, *DROP) as process:
            done = subprocess.run(
                [*DROP, program("netnice"), "-n", "0", "--at-least", "1mbit", "-p", str(process.pid)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 125
            assert "only root can give a running process a floor" in done.stderr
            netnice("-n", "0", "--at-least", "1mbit", "-p", str(process.pid))
            assert at_least(process.pid) == 1_000_000
            netnice("-n", "off", "-p", str(process.pid))
            assert at_least(process.pid) is None
            assert not floors()

    @pytest.mark.parametrize("rate", ["5", "999bit", "300gbit", "fast"])
    def test_what_is_no_rate(self, rate: str) -> None:
        done = netnice("--at-least", rate, "true", check=False)
        assert done.returncode == 125
        assert "--at-least" in done.stderr


@pytest.mark.usefixtures("up")
class TestCgroups:
    def test_attached(self, pair: Pair, group: Path) -> None:
        with sleeping(pair) as process:
            (group / "cgroup.procs").write_text(str(process.pid))
            below = f"/{group.relative_to(kernel.cgroup_root())}"
            netnicectl("attach", "--at-least", "3mbit", below)
            assert at_least(process.pid) == 3_000_000
            netnicectl("attach", below)
            assert at_least(process.pid) is None, "attached anew, without"
            netnicectl("detach", below)

    def test_rules(self, pair: Pair, group: Path) -> None:
        file = scratch("policy") / "policy.toml"
        sleeper = file.with_name("nnt-floored")
        shutil.copy(program("sleep"), sleeper)
        file.write_text(
            f'[[rule]]\nunit = "{group.name}*"\nat-least = "4mbit"\n'
            '[[rule]]\ncommand = "nnt-floored"\nat-least = "7mbit"\n'
        )  # fmt: skip
        later = group.with_name(f"{group.name}-later")
        try:
            with sleeping(pair, by=str(sleeper)) as before:
                netnicectl("policy", "apply", str(file))
                assert at_least(before.pid) == 7_000_000
                with sleeping(pair, by=str(sleeper)) as after:
                    wait_until(lambda: at_least(after.pid) == 7_000_000, "its own")
                    assert len(floors()) == 2
                    later.mkdir()
                    for cgroup in (group, later):
                        (cgroup / "cgroup.procs").write_text(str(after.pid))
                        assert at_least(after.pid) == 4_000_000
            file.write_text("")
            netnicectl("policy", "apply", str(file))
        finally:
            if later.exists():
                later.rmdir()

    def test_a_rate_that_is_none(self) -> None:
        file = scratch("policy") / "policy.toml"
        file.write_text('[[rule]]\nunit = "a"\nat-least = "5"\n')
        done = netnicectl("policy", "check", str(file), check=False)
        assert done.returncode == 1
        assert "line 3: at-least:" in done.stderr


ASKS = """
import sys
try:
    at_least(3_000_000)
except OSError as error:
    print(errno.errorcode[error.errno], flush=True)
else:
    print("ok", flush=True)
sys.stdin.read()
"""


def test_a_program_asks_for_itself(up: None) -> None:
    script = BINDING.read_text() + ASKS
    with subprocess.Popen(
        [*DROP, PYTHON, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        assert asking.stdout.readline() == "ok\n"
        assert [one["processes"] for one in floors()] == [[asking.pid]]
        asking.communicate("")
    wait_until(lambda: not floors(), "the floor to go")
    done = netnice(*DROP, PYTHON, "-c", script, input="")
    assert done.stdout == "EPERM\n", "in the background already"
