# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What holds a process in the background against 'off' and 'detach' is named, with the command that ends it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import Done, call, name, netnice, netnicectl
from system.harness.kernel import inside
from testbed import Process, program, scratch
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")

RULE = '# ours\n[[rule]]\nunit = "nnt-held*.service"\nlevel = 1\n'
#: Runs words where /etc/netnice/policy.toml has RULE.
WITH_RULE = (
    "mkdir -p $0/upper $0/below && mount -t overlay -o lowerdir=/etc,upperdir=$0/upper,workdir=$0/below overlay /etc &&"
    ' mkdir -p /etc/netnice && printf "%s" "$1" >/etc/netnice/policy.toml && shift && exec "$@"'
)


@pytest.fixture
def unit() -> Iterator[Path]:
    with kernel.cgroup("nnt-held.service") as folder:
        yield folder


@pytest.fixture
def sleeper(unit: Path) -> Iterator[int]:
    """A process in the unit, in the foreground by itself."""
    with Process(inside(unit, program("sleep"), "600")) as process:
        wait_until(lambda: name(process.pid) == "sleep", "it to run")
        yield process.pid


def with_rule(*words: str) -> Done:
    """Where the administrator's file has the rule."""
    folder = scratch("held")
    subprocess.run(["mount", "-t", "tmpfs", "none", str(folder)], check=True)  # overlay's own folders go with it
    try:
        argv = ["--mount", "sh", "-c", WITH_RULE, str(folder), RULE, program(words[0]), *words[1:]]
        return call("unshare", *argv, check=False)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class TestOff:
    def test_of_an_attached_unit(self, unit: Path, sleeper: int) -> None:
        netnicectl("attach", str(unit))
        below = f"/{unit.relative_to(kernel.cgroup_root())}"
        for words in (["off"], ["off", "-d"]):
            done = netnice("-n", *words, "-p", str(sleeper), check=False)
            assert done.returncode == 125
            assert f"process {sleeper} (sleep) stays at level 0, with all of its cgroup.\n" in done.stderr
            assert f"{below} is attached. To end that: 'sudo netnicectl detach {below}'.\n" in done.stderr
        netnicectl("detach", below)
        assert netnice("-n", "off", "-p", str(sleeper)).stderr == ""
        assert netnice("-p", str(sleeper)).stdout == "foreground\n"

    def test_a_lower_level_than_its_units(self, unit: Path, sleeper: int) -> None:
        netnicectl("attach", "-n", "1", str(unit))
        done = netnice("-n", "0", "-p", str(sleeper), check=False)
        assert (done.returncode, "stays at level 1" in done.stderr) == (125, True), done.stderr
        assert netnice("-n", "2", "-p", str(sleeper)).stderr == ""

    def test_of_a_unit_that_a_rule_names(self, sleeper: int) -> None:
        assert with_rule("netnicectl", "policy", "apply").returncode == 0
        done = with_rule("netnice", "-n", "off", "-p", str(sleeper))
        assert done.returncode == 125
        removal = "remove the rule at line 2 of /etc/netnice/policy.toml, then 'sudo netnicectl policy apply'."
        assert f"nnt-held.service is named by a rule. To end that: {removal}\n" in done.stderr
        done = netnice("-n", "off", "-p", str(sleeper), check=False)
        assert "remove the rule from the file that was applied" in done.stderr, "another file has it"


class TestDetach:
    def test_a_rule_that_names_it_is_said(self, unit: Path, sleeper: int) -> None:
        with_rule("netnicectl", "policy", "apply")
        still = "nnt-held.service: detached, but the policy still names it (line 2: units and cgroups named nnt-held*"
        for said in ("detached; processes: 1", "it was not attached"):
            done = with_rule("netnicectl", "detach", str(unit))
            assert done.returncode == 0
            assert said in done.stdout
            assert still in done.stderr
            assert "To end that: remove the rule at line 2 of /etc/netnice/policy.toml" in done.stderr
        for subject in (str(unit), str(sleeper)):
            said = with_rule("netnicectl", "explain", subject).stdout
            assert still in said
            assert "in the background again after the next 'policy apply'" in said
        (one,) = json.loads(netnicectl("explain", "--json", str(sleeper)).stdout)["detached"]
        assert (one["rules"][0]["pattern"], one["rules"][0]["line"]) == ("nnt-held*.service", None)
        with_rule("netnicectl", "policy", "apply")
        assert netnice("-p", str(sleeper)).stdout == "1\n"
        assert still not in with_rule("netnicectl", "explain", str(unit)).stdout

    def test_without_a_rule_nothing_is(self, unit: Path) -> None:
        netnicectl("attach", str(unit))
        assert netnicectl("detach", str(unit)).stderr == ""
