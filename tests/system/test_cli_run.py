# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice COMMAND: where it puts the command, and that it is otherwise not there."""

from __future__ import annotations

import json
import signal
import subprocess
from functools import partial

import pytest

from system.harness import kernel
from system.harness.commands import DROP, Run, name, netnice
from testbed import Process, program
from testbed.namespace import wait_until


@pytest.mark.usefixtures("up")
class TestPassingThrough:
    def test_arguments_and_output(self) -> None:
        assert netnice("printf", "%s|", "a b", "-n", "--no-mark").stdout == "a b|-n|--no-mark|"

    @pytest.mark.parametrize("status", [0, 1, 7, 125, 255])
    def test_exit_status(self, status: int) -> None:
        assert netnice("sh", "-c", f"exit {status}", check=False).returncode == status

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
    def test_death_by_a_signal(self, number: signal.Signals) -> None:
        assert netnice("sh", "-c", f"kill -{int(number)} $$", check=False).returncode == -number

    def test_signals_reach_the_command_itself(self) -> None:
        with subprocess.Popen([program("netnice"), "sleep", "60"]) as process:
            wait_until(lambda: name(process.pid) == "sleep", "it to run")
            process.send_signal(signal.SIGINT)
            assert process.wait(5) == -signal.SIGINT

    def test_standard_input(self) -> None:
        done = subprocess.run([program("netnice"), "cat"], input="text", capture_output=True, text=True, check=True)
        assert done.stdout == "text"


@pytest.mark.usefixtures("up")
class TestErrors:
    def test_a_command_that_does_not_exist(self) -> None:
        done = netnice("no-such-command", check=False)
        assert done.returncode == 127
        assert "'no-such-command': no such command.\nCheck the spelling and the PATH of root: " in done.stderr

    def test_a_users_path_is_searched(self, as_nobody: Run) -> None:
        done = as_nobody("netnice", "no-such-command", before=("/usr/bin/env", "PATH=/usr/bin:/bin"))
        assert done.returncode == 127
        assert done.stderr == "netnice: 'no-such-command': no such command.\nCheck the spelling and your PATH.\n"

    @pytest.mark.parametrize("command", ["/etc/passwd", "/tmp"])
    def test_a_command_that_cannot_be_run(self, command: str) -> None:
        done = netnice(command, check=False)
        assert done.returncode == 126
        assert f"cannot run '{command}'" in done.stderr

    @pytest.mark.parametrize("level", ["3", "-1", "99999999999"])
    def test_a_level_that_does_not_exist(self, level: str) -> None:
        done = netnice("-n", level, "true", check=False)
        assert done.returncode == 125
        assert f"there is no level {level}: levels are 0, 1 and 2" in done.stderr

    @pytest.mark.parametrize(
        "words", [["-n", "high", "true"], ["--bogus", "true"], ["-n", "0"], ["--no-mark"], ["--strict"]]
    )
    def test_a_wrong_command_line(self, words: list[str]) -> None:
        done = netnice(*words, check=False)
        assert done.returncode == 125
        assert done.stderr

    def test_help_and_version_are_no_errors(self) -> None:
        assert "0, low     background (default)" in netnice("--help").stdout
        assert netnice("--version").stdout.startswith("netnice ")


def test_a_missing_level_names_the_levels() -> None:
    done = netnice("-n", check=False)
    assert done.returncode == 125
    assert "[possible values: 0, 1, 2, low, lower, lowest, off]" in done.stderr


def test_the_list_has_every_level_and_receiver(as_nobody: Run) -> None:
    netnice = partial(as_nobody, "netnice")
    listed = json.loads(netnice("--list", "--json").stdout)
    assert [(entry["level"], entry["name"]) for entry in listed["levels"]] == [
        (0, "netnice"),
        (1, "netnice1"),
        (2, "netnice2"),
    ]
    assert "OSDI 2002" in listed["levels"][0]["about"]
    assert listed["receivers"][0]["name"] == "tide"
    assert {"nicer0", "nnledbat", "nnlp"} <= {entry["name"] for entry in listed["comparison"]}
    about = [entry["about"] for part in listed.values() for entry in part]
    assert len(set(about)) == len(about)
    assert not [text for text in about if ".h" in text or "../" in text]
    human = netnice("-l").stdout.splitlines()
    for part in listed.values():
        for entry in part:
            assert sum(entry["name"] in line.split()[:2] and entry["about"] in line for line in human) == 1


class TestWhere:
    @pytest.mark.usefixtures("up")
    def test_in_the_background_and_back(self) -> None:
        me = program("netnice")
        assert netnice().stdout == "foreground\n"
        assert netnice(me).stdout == "0\n"
        assert netnice("-n", "0", me).stdout == "0\n"
        assert netnice("-n", "lower", me).stdout == "1\n"
        assert netnice("-n", "lowest", me).stdout == "2\n"
        assert netnice("--strict", me).stdout == "0\n"
        assert netnice("--no-mark", me).stdout == "0 unmarked\n"
        assert netnice().stdout == "foreground\n"

    @pytest.mark.usefixtures("up")
    def test_children_follow(self) -> None:
        assert netnice("sh", "-c", f"sh -c '{program('netnice')}' & wait").stdout == "0\n"

    @pytest.mark.usefixtures("up")
    def test_no_mark_is_inherited(self) -> None:
        me = program("netnice")
        assert netnice("--no-mark", me, me).stdout == "0 unmarked\n"
        assert netnice(me, "--no-mark", me).stdout == "0 unmarked\n"

    @pytest.mark.usefixtures("down")
    def test_it_comes_up_by_itself_once(self) -> None:
        first, second = netnice("true"), netnice("true")
        assert "loaded into the kernel" in first.stderr
        assert len(first.stderr.splitlines()) == 1
        assert second.stderr == ""
        assert "netnice" in kernel.registered()

    @pytest.mark.usefixtures("down")
    def test_without_a_command_nothing_is_loaded(self, down: dict[int, str]) -> None:
        assert netnice().stdout == "foreground\n"
        kernel.assert_nothing_remains(down)


class TestWithoutBackground:
    """COMMAND cannot be put in the background: a warning of one line, and COMMAND runs unchanged, as with nice(1)."""

    @pytest.mark.usefixtures("down")
    @pytest.mark.parametrize("status", [0, 7])
    def test_it_runs_with_its_exit_status(self, as_nobody: Run, status: int) -> None:
        done = as_nobody("netnice", "sh", "-c", f"echo ran; exit {status}")
        assert (done.returncode, done.stdout) == (status, "ran\n")
        (line,) = done.stderr.splitlines()
        assert line.startswith("netnice: 'sh' runs unchanged: netnice is not loaded, and only root can load it. ")
        assert "netnicectl up" in line

    @pytest.mark.usefixtures("down")
    def test_its_own_errors_are_as_ever(self, as_nobody: Run) -> None:
        for command, status in [("no-such-command", 127), ("/etc/passwd", 126)]:
            done = as_nobody("netnice", command, before=("/usr/bin/env", "PATH=/usr/bin:/bin"))
            assert done.returncode == status
            assert done.stderr.startswith(f"netnice: '{command}' runs unchanged: ")

    @pytest.mark.usefixtures("down")
    def test_strict(self, as_nobody: Run) -> None:
        done = as_nobody("netnice", "--strict", "echo", "ran")
        assert (done.returncode, done.stdout) == (125, "")
        assert "only root can load it" in done.stderr

    @pytest.mark.usefixtures("down")
    @pytest.mark.parametrize("words", [["-n", "3", "echo"], ["-n", "off", "echo"], ["--bogus", "echo"]])
    def test_a_wrong_command_line_is_no_such_case(self, as_nobody: Run, words: list[str]) -> None:
        done = as_nobody("netnice", *words, "ran")
        assert (done.returncode, done.stdout) == (125, "")

    @pytest.mark.usefixtures("down")
    def test_a_running_process_is_no_such_case(self, as_nobody: Run) -> None:
        with Process([*DROP, program("sleep"), "600"]) as sleeper:
            wait_until(lambda: name(sleeper.pid) == "sleep", "it to run")
            done = as_nobody("netnice", "-n", "0", "-p", str(sleeper.pid))
            assert done.returncode == 125
            assert "only root can load it" in done.stderr
