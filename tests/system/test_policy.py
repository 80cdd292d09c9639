# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnicectl policy: units, containers and programs in the background, those that are there and those to come."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from system.harness import kernel
from system.harness.commands import DROP, PROGRAMS, Done, Pair, Run, marks, name, netnice, netnicectl, runs_on, status
from system.harness.kernel import inside
from testbed import Process, program, scratch
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")
MANY = 200
#: Runs a Python program under a name that no other program has.
CALLED = (
    "import runpy, sys; sys.argv = sys.argv[1:]; open('/proc/self/comm', 'w').write('nnt-called');"
    " runpy.run_path(sys.argv[0], run_name='__main__')"
)

Apply = Callable[..., Done]


@pytest.fixture
def slice_() -> Iterator[Path]:
    """A cgroup as a service manager makes them, gone afterwards with what is below it."""
    with kernel.cgroup() as folder:
        yield folder


@pytest.fixture
def apply() -> Apply:
    """Applies the text of a file."""
    file = scratch("policy") / "policy.toml"

    def run(text: str, verb: str = "apply", *, check: bool = True) -> Done:
        file.write_text(text)
        return netnicectl("policy", verb, str(file), check=check)

    return run


def attached() -> dict[str, tuple[int, bool]]:
    """The last part of each cgroup's path, its level, and whether a rule says so."""
    found: list[dict[str, Any]] = status()["attached"]
    return {Path(one["cgroup"]).name: (one["level"], one["by_rule"]) for one in found}


def unit(name: str, level: int = 0) -> str:
    return f'[[rule]]\nunit = "{name}"\nlevel = {level}\n'


class TestUnits:
    def test_those_that_are_there_and_those_to_come(self, apply: Apply, pair: Pair, slice_: Path) -> None:
        here, later, other = (slice_ / name for name in ("nnt-here.service", "nnt-later.service", "other.service"))
        here.mkdir()
        apply(unit("nnt-*.service", 1))
        later.mkdir()
        other.mkdir()
        assert attached() == {"nnt-here.service": (1, True), "nnt-later.service": (1, True)}
        for cgroup, expected in ((here, "netnice1"), (later, "netnice1"), (other, "cubic")):
            client, _, port = pair.connect(client=inside(cgroup))
            assert marks(pair.a, 4, "dport", port)[0] == expected
            said = "foreground" if expected == "cubic" else "1"
            assert netnice("-p", str(client.pid)).stdout == f"{said}\n"
            client.end()

    def test_by_path_and_by_a_containers_id(self, apply: Apply, slice_: Path) -> None:
        path = f'[[rule]]\ncgroup = "/{slice_.name}/job*"\n'
        text = path + '[[rule]]\ncontainer = "3fa2*"\nlevel = 2\ndirection = "send"\n'
        apply(text)
        for made in ("job-1", "no-job", "docker-3fa2bc.scope", "docker-4fa2bc.scope", "crio-3fa2bc.scope"):
            (slice_ / made).mkdir()
        expected = {"job-1": (0, True), "docker-3fa2bc.scope": (2, True), "crio-3fa2bc.scope": (2, True)}
        assert attached() == expected
        assert apply(text).returncode == 0
        assert attached() == expected, "what the kernel has found is what a look at all finds"

    def test_connections_go_on(self, apply: Apply, pair: Pair, slice_: Path) -> None:
        cgroup = slice_ / "nnt-many.service"
        cgroup.mkdir()

        with pair.end(pair.a, "many", str(MANY), first=inside(cgroup)) as holder:
            holder.line()
            for text, expected in (
                (unit("nnt-many.service"), "netnice"),
                (unit("nnt-many.service", 2), "netnice2"),
                ("", "cubic"),
            ):
                said = apply(text).stdout
                assert f"their TCP sockets: {2 * MANY}" in said
                assert set(runs_on(pair.a)) == {expected}
                holder.signal(signal.SIGUSR1)
                assert holder.line() == f"{MANY}\n"

    def test_by_hand_is_left_alone(self, apply: Apply, slice_: Path) -> None:
        (slice_ / "nnt-hand.service").mkdir()
        netnicectl("attach", "-n", "2", "nnt-hand.service")
        said = apply(unit("nnt-*"))
        assert "attached by hand, and left as they are: 1" in said.stderr
        assert attached() == {"nnt-hand.service": (2, False)}
        apply("")
        assert attached() == {"nnt-hand.service": (2, False)}

    def test_of_several_all_count(self, apply: Apply, slice_: Path) -> None:
        apply(unit("nnt-*", 1) + 'direction = "send"\n' + unit("*.service") + 'direction = "receive"\nmark = false\n')
        (slice_ / "nnt-both.service").mkdir()
        (one,) = [one for one in status()["attached"] if one["cgroup"].endswith("nnt-both.service")]
        assert (one["level"], one["direction"], one["marked"]) == (1, "both", False)

    def test_cgroups_that_sockets_do_not_look_at_are_passed_over(self, apply: Apply, slice_: Path) -> None:
        """Those 32 deep, and those of another hierarchy, whose numbers may be the same."""
        apply(unit("nnt-*"))
        other = Path("/sys/fs/cgroup/pids") / f"nnt-{slice_.name}"
        deep = slice_
        for depth in range(2, 34):
            deep = deep / f"nnt-{depth}"
            deep.mkdir()
        if other.parent.is_dir():
            other.mkdir()
        found = kernel.bpftool("map", "dump", "pinned", kernel.MAPS / "attached")
        if other.is_dir():
            other.rmdir()
        assert len(found) == len(attached()) == 30


class TestPrograms:
    def test_what_yields_more_already_stays(self, apply: Apply, pair: Pair, slice_: Path) -> None:
        """A connection of a unit at level 2, whose program a rule has at level 0."""
        netnicectl("attach", "-n", "2", slice_.name)
        port = pair.end(pair.b, "listen").line().strip()
        called = [sys.executable, "-c", CALLED, str(PROGRAMS / "ends.py"), "connect", pair.b4, port]
        words = inside(slice_, *called)
        with pair.a.spawn(*words, stdout=subprocess.PIPE) as client:
            client.line()
            apply('[[rule]]\ncommand = "nnt-called"\n')
            assert netnicectl("explain", str(client.pid)).stdout.splitlines()[1].split() == ["by", "itself", "0"]
            assert marks(pair.a, 4, "dport", int(port)) == ("netnice2", 4)

    @pytest.fixture
    def sleeper(self) -> Path:
        found = scratch("policy") / "nnt-sleeper-long-name"
        shutil.copy(program("sleep"), found)
        return found

    def test_those_that_run_and_those_to_come(self, apply: Apply, sleeper: Path) -> None:
        with Process([str(sleeper), "600"]) as before, Process([program("sleep"), "600"]) as other:
            apply('[[rule]]\ncommand = "nnt-sleeper-long-name"\nlevel = 2\n')
            with Process([program("sh"), "-c", f"{sleeper} 600 & wait"]) as shell:
                children = Path(f"/proc/{shell.pid}/task/{shell.pid}/children")

                def running() -> list[str]:
                    names = [Path(f"/proc/{pid}/comm").read_text() for pid in children.read_text().split()]
                    return [name for name in names if name.startswith("nnt-sleeper")]

                wait_until(lambda: bool(running()), "it to run")
                after = children.read_text().strip()
                pids = [str(before.pid), after, str(other.pid), str(shell.pid)]
                assert netnice("-p", *pids).stdout.split() == ["2", "2", "foreground", "foreground"]
                os.kill(int(after), 9)

    def test_those_that_stay_without_a_rule_are_named(self, apply: Apply, sleeper: Path) -> None:
        """A process that its own user has made as nice is not, nor one that a rule still names."""
        rule = '[[rule]]\ncommand = "nnt-sleeper-*"\nlevel = 1\n'
        with Process([str(sleeper), "600"]) as one, Process([program("netnice"), "sleep", "600"]):
            assert "former rule" not in apply(rule).stderr
            assert "former rule" not in apply(rule + unit("nnt-none")).stderr
            for text in (rule.replace("1", "0"), ""):
                said = apply(text).stderr
                assert f"at the level of a former rule until they end: {one.pid} (nnt-sleeper-lon)." in said
                assert f"'sudo netnice -n off -d -p {one.pid}'" in said
            netnice("-n", "off", "-d", "-p", str(one.pid))
            apply(rule.replace("1", "0"))
            assert "former rule" not in apply(rule).stderr
            netnice("-n", "off", "-d", "-p", str(one.pid))
            assert "former rule" not in apply("").stderr


class TestFile:
    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("[[rule]]\n", "line 1: a rule names one of unit, slice, container, label, cgroup and command"),
            ('\n[[rule]]\nunit = "a*b*"\n', "line 3: 'a*b*': it has several '*'"),
            (unit("a", 3), "line 3: there is no level 3"),
            ('[[rule]]\nunit = "a"\nlevle = 1\n', "unknown field `levle`"),
            ("rule\n", "line 1"),
            ('[[rule]]\ncommand = "/usr/bin/curl"\n', "Name the file without its folders: 'curl'"),
            ('[[rule]]\ncommand = "*"\n', "line 2: '*' names every program"),
            (unit("system.slice/a.service"), "To name the whole path, write cgroup"),
            (f'[[rule]]\ncontainer = "{"a" * 108}"\n', "it has 129 bytes, and there is room for 128"),
        ],
    )
    def test_a_mistake_changes_nothing(self, apply: Apply, slice_: Path, text: str, why: str) -> None:
        (slice_ / "nnt-a.service").mkdir()
        apply(unit("nnt-*"))
        before = netnicectl("policy", "show", "--json").stdout
        for verb in ("check", "apply"):
            done = apply(text, verb, check=False)
            assert done.returncode == 1
            assert why in done.stderr
        assert attached() == {"nnt-a.service": (0, True)}
        assert netnicectl("policy", "show", "--json").stdout == before

    def test_ended_at_any_moment_one_set_holds_whole(self, apply: Apply) -> None:
        names = [f"nnt-{n}" for n in range(60)]
        sets = ["".join(unit(f"{name}-{which}*") for name in names) for which in "ab"]
        file = scratch("policy") / "other.toml"
        apply(sets[0])
        for n in range(16):
            file.write_text(sets[(n + 1) % 2])
            with contextlib.suppress(subprocess.TimeoutExpired):  # which kills it
                netnicectl("policy", "apply", str(file), timeout=n / 500)
            holding = {rule["pattern"] for rule in json.loads(netnicectl("policy", "show", "--json").stdout)}
            assert holding in [{f"{name}-{which}*" for name in names} for which in "ab"]

    def test_check_tells_what_a_rule_means(self, apply: Apply, slice_: Path) -> None:
        (slice_ / "nnt-a.service").mkdir()
        said = apply("# ours\n" + unit("nnt-*"), "check").stdout
        assert said.startswith('line 2: unit = "nnt-*"\n  units and cgroups named nnt-*: at level 0, with all')
        assert f"now: {slice_.name}/nnt-a.service" in said
        assert attached() == {}
        assert netnicectl("policy", "show").stdout == "no rule holds\n"
        assert "rules in effect" not in netnicectl("status").stdout
        apply(unit("nnt-*") + '[[rule]]\ncommand = "nnt-none"\n')
        assert "rules in effect: 2; 'netnicectl policy show' prints them" in netnicectl("status").stdout
        assert [rule["pattern"] for rule in status()["rules"]] == ["nnt-*", "nnt-none"]

    def test_check_warns_of_a_name_that_the_kernel_cuts(self, apply: Apply) -> None:
        said = apply('[[rule]]\ncommand = "nnt-a-very-long-program"\n', "check").stdout.splitlines()
        assert said[2].startswith("    warning: the kernel knows 15 bytes of a program's name: ")
        assert said[-1] == "rules: 1, all valid"

    def test_a_cgroup_with_its_mount_point_is_the_same(self, apply: Apply, slice_: Path) -> None:
        cgroup = slice_ / "nnt-a.service"
        cgroup.mkdir()
        for path in (str(cgroup), f"/{cgroup.relative_to(kernel.cgroup_root())}"):
            apply(f'[[rule]]\ncgroup = "{path}"\n')
            assert attached() == {"nnt-a.service": (0, True)}
            apply("")

    def test_check_warns_of_a_unit_without_a_type(self, apply: Apply) -> None:
        said = apply(unit("nnt-backup"), "check").stdout
        assert "    warning: no unit of systemd has such a name: is 'nnt-backup.service' meant?\n" in said

    def test_no_file(self) -> None:
        done = netnicectl("policy", "apply", "/nonexistent/policy.toml", check=False)
        assert done.returncode == 1
        assert "cannot read /nonexistent/policy.toml" in done.stderr
        assert done.stderr.count("No such file") == 1
        assert "man policy.toml" in done.stderr


class TestExplain:
    def test_a_process_and_its_unit(self, apply: Apply, slice_: Path) -> None:
        cgroup = slice_ / "nnt-why.service"
        cgroup.mkdir()
        apply(unit("nnt-why*", 1))
        netnicectl("attach", "--send-only", slice_.name)
        with Process(inside(cgroup, program("netnice"), "--receive-only", "sleep", "600")) as process:
            wait_until(lambda: name(process.pid) == "sleep", "it to run")
            said = json.loads(netnicectl("explain", "--json", str(process.pid)).stdout)
            assert (said["own"]["level"], said["own"]["direction"]) == (0, "receive")
            assert [(one["cgroup"], one["by_rule"], one["level"]) for one in said["causes"]] == [
                (f"{slice_.name}/nnt-why.service", True, 1),
                (slice_.name, False, 0),
            ]
            assert said["causes"][0]["rules"][0]["pattern"] == "nnt-why*"
            assert (said["in_effect"]["level"], said["in_effect"]["direction"]) == (1, "both")
            text = netnicectl("explain", "nnt-why.service").stdout
            assert "by the policy (units and cgroups named nnt-why*: at level 1)" in text
            assert f"{slice_.name}: at level 0 send only, attached by hand" in text
            assert f"{process.pid} (sleep): at level 0 receive only, by itself" in text

    def test_what_a_user_cannot_see(self, as_nobody: Run, slice_: Path) -> None:
        """The user's process is in a unit that is attached; only root can read that."""
        cgroup = slice_ / "nnt-closed.service"
        cgroup.mkdir()
        netnicectl("attach", "-n", "1", slice_.name)
        with Process(inside(cgroup, *DROP, "sleep", "600")) as process:
            wait_until(lambda: name(process.pid) == "sleep", "it to run")
            unseen = "only root can see whether it is attached, or named by a rule"
            said = as_nobody("netnicectl", "explain", str(process.pid)).stdout
            assert unseen in said
            assert "in effect        foreground, as far as this user can see: " in said
            assert unseen in as_nobody("netnicectl", "explain", cgroup.name).stdout
            said = netnicectl("explain", str(process.pid)).stdout
            assert "in effect        1: " in said
            assert unseen not in said

    def test_a_connection(self, pair: Pair) -> None:
        client, _, port = pair.connect(client=[program("netnice")])
        there = [program("nsenter"), f"--net={pair.a.file}", "--", program("netnicectl"), "explain"]
        for subject in (f":{port}", f"{pair.b4}:{port}"):
            said = subprocess.run([*there, subject], capture_output=True, text=True, check=True).stdout
            assert "yields at level 0: netnice" in said
            assert f"process {client.pid}" in said
            assert "not as its process" not in said
        missing = subprocess.run([*there, ":1"], capture_output=True, text=True, check=False)
        assert missing.returncode == 1
        assert "no TCP connection of this network namespace has the ends :1" in missing.stderr

    @pytest.mark.parametrize(
        ("subject", "why"), [("2147483647", "there is no process"), ("nobody.service", "no unit, container")]
    )
    def test_of_nothing(self, subject: str, why: str) -> None:
        done = netnicectl("explain", subject, check=False)
        assert done.returncode == 1
        assert why in done.stderr


def test_rules_outlive_a_replacement(apply: Apply, slice_: Path) -> None:
    apply(unit("nnt-*", 1))
    shown = netnicectl("policy", "show", "--json").stdout
    assert json.loads(shown)[0]["pattern"] == "nnt-*"
    assert "replaced" in netnicectl("up", "--with", "nnreno").stdout
    assert netnicectl("policy", "show", "--json").stdout == shown
    (slice_ / "nnt-new.service").mkdir()
    assert attached() == {"nnt-new.service": (1, True)}


def test_down_takes_it_away(machine: dict[int, str], apply: Apply) -> None:
    apply(unit("nnt-*") + '[[rule]]\ncommand = "nnt"\n')
    netnicectl("down")
    kernel.assert_nothing_remains(machine)
    done = apply(unit("a"), check=False)
    assert done.returncode == 1
    assert "netnice is not up" in done.stderr
