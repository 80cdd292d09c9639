# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Machines on which netnice cannot run, or not yet: each says what, why and what to do.

They are made in mount namespaces of their own, from this machine.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import Done, Run, netnicectl
from testbed import ownership, program

NO_CGROUP2 = """
for point in $(awk '$0 ~ / - cgroup2 / {{ print $5 }}' /proc/self/mountinfo); do umount -l $point; done
if ! grep -q ' - cgroup ' /proc/self/mountinfo; then
    mkdir -p {scratch}/v1 && mount -t cgroup -o none,name=netnicetest none {scratch}/v1
fi
"""


# Mounts stack; -l, since the machine's own programs may be pinned in it and hold it open.
NO_BPFFS = "while mountpoint -q /sys/fs/bpf; do umount -l /sys/fs/bpf; done"


def elsewhere(script: str) -> Done:
    """Runs a script in a mount namespace of its own; {scratch}, {no_bpffs} and the programs' names are filled in."""
    scratch = ownership.scratch("machine")
    names = {name: shlex.quote(program(name)) for name in ("netnice", "netnicectl")}
    text = script.format(scratch=scratch, no_bpffs=NO_BPFFS, **names)
    return subprocess.run([program("unshare"), "-m", "sh", "-ec", text], capture_output=True, text=True, check=False)


def missing(done: Done) -> dict[str, dict[str, str]]:
    findings = json.loads(done.stdout)
    assert all(f["state"] and f["why"] and (f["remedy"] or f["verdict"] == "ok") for f in findings)
    return {f["name"]: f for f in findings if f["verdict"] == "missing"}


MACHINES = {
    "old kernel": ("echo 5.10.0 > {scratch}/old; mount --bind {scratch}/old /proc/sys/kernel/osrelease", ["kernel"]),
    "no BTF": ("mount --bind /dev/null /sys/kernel/btf/vmlinux", ["BTF", "registration"]),
    "no JIT": ("echo 0 > {scratch}/off; mount --bind {scratch}/off /proc/sys/net/core/bpf_jit_enable", ["JIT"]),
    "cgroup v1 only": (NO_CGROUP2, ["cgroup v2"]),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.usefixtures("down")
class TestUnfit:
    def test_doctor(self, machine: str) -> None:
        script, expected = MACHINES[machine]
        done = elsewhere(f"{script}\n{{netnicectl}} doctor --json")
        assert done.returncode == 1
        assert list(missing(done)) == expected

    def test_up(self, machine: str, down: dict[int, str]) -> None:
        script, expected = MACHINES[machine]
        done = elsewhere(f"{script}\n{{netnicectl}} up")
        assert done.returncode == 1
        assert "this machine cannot run netnice" in done.stderr
        assert all(f"\n  {name}: " in done.stderr for name in expected)
        assert "What to do: " in done.stderr
        kernel.assert_nothing_remains(down)

    def test_netnice(self, machine: str) -> None:
        done = elsewhere(f"{MACHINES[machine][0]}\n{{netnice}} --strict echo ran")
        assert done.returncode == 125
        assert done.stderr.startswith("netnice: ")
        assert "ran" not in done.stdout

    def test_netnice_runs_the_command_all_the_same(self, machine: str) -> None:
        done = elsewhere(f"{MACHINES[machine][0]}\n{{netnice}} echo ran")
        assert (done.returncode, done.stdout) == (0, "ran\n")
        (line,) = done.stderr.splitlines()
        assert line.startswith("netnice: 'echo' runs unchanged: ")


@pytest.mark.usefixtures("down")
class TestBpffsMissing:
    def test_up_mounts_it_and_down_unmounts_it(self) -> None:
        done = elsewhere("""
            {no_bpffs}
            {netnicectl} doctor --json
            {netnicectl} up >&2
            awk '$5 == "/sys/fs/bpf" {{ print $0 }}' /proc/self/mountinfo >&2
            {netnice} {netnice} >&2
            {netnicectl} down >&2
            awk '$5 == "/sys/fs/bpf" {{ print "left", $0 }}' /proc/self/mountinfo >&2
        """)
        assert done.returncode == 0, done.stderr
        assert missing(done) == {}
        up, mount, level, down = done.stderr.splitlines()
        assert (up, level, down) == ("up", "0", "down")
        assert " - bpf netnice " in mount

    def test_down_leaves_one_that_others_use(self) -> None:
        done = elsewhere("""
            {no_bpffs}
            {netnicectl} up
            mkdir /sys/fs/bpf/other
            {netnicectl} down
            ls /sys/fs/bpf
        """)
        assert "other" in done.stdout.split()

    def test_down_leaves_one_that_was_there(self) -> None:
        done = elsewhere("""
            {no_bpffs}
            mount -t bpf bpf /sys/fs/bpf
            {netnicectl} up
            {netnicectl} down
            grep -c ' - bpf bpf ' /proc/self/mountinfo
        """)
        assert done.stdout.splitlines()[-1] != "0"
        assert done.returncode == 0

    def test_loaded_from_another_mount_namespace(self, down: dict[int, str]) -> None:
        """Their pins cannot be seen here, but the name is taken."""
        done = elsewhere("""
            {no_bpffs}
            mount -t bpf theirs /sys/fs/bpf
            {netnicectl} up
            mount -t bpf ours /sys/fs/bpf
            status=0
            {netnicectl} up || status=$?
            umount /sys/fs/bpf
            {netnicectl} down
            exit $status
        """)
        assert done.returncode == 1
        assert "'netnice' is already registered, and not by this netnice" in done.stderr
        kernel.assert_nothing_remains(down)


@pytest.mark.usefixtures("down")
def test_up_is_silent_of_a_policy_without_rules() -> None:
    """As the file is delivered. The last rule that goes is said."""
    done = elsewhere(r"""
        mkdir {scratch}/upper {scratch}/work
        mount -t overlay -o lowerdir=/etc,upperdir={scratch}/upper,workdir={scratch}/work overlay /etc
        mkdir -p /etc/netnice
        for text in '# none yet' '[[rule]]\nunit = "nnt-none"' '# none any more' '# none'; do
            printf "$text\n" >/etc/netnice/policy.toml
            {netnicectl} up
        done
        {netnicectl} down
    """)
    assert done.returncode == 0, done.stderr
    assert [line.partition(",")[0] for line in done.stdout.splitlines()] == [
        "up",
        "already up",
        "policy applied: rules: 1",
        "already up",
        "policy applied: rules: 0",
        "already up",
        "down",
    ]


class TestNoRoot:
    @pytest.mark.usefixtures("down")
    def test_when_it_is_not_loaded(self, as_nobody: Run) -> None:
        done = as_nobody("netnice", "--strict", "true")
        assert done.returncode == 125
        assert "only root can load it" in done.stderr
        assert "sudo netnice" in done.stderr

    @pytest.mark.usefixtures("up")
    def test_what_needs_no_root(self, as_nobody: Run) -> None:
        assert as_nobody("netnice").stdout == "foreground\n"
        assert as_nobody("netnice", "true").returncode == 0
        assert "run it as root to see" in as_nobody("netnicectl", "status").stdout

    @pytest.mark.usefixtures("up")
    @pytest.mark.parametrize(
        "words",
        [["show"], ["show", "--json"], ["set", "netnice", "alpha=2"], ["policy", "show"], ["policy", "show", "--json"]],
    )
    def test_what_takes_root(self, as_nobody: Run, words: list[str]) -> None:
        done = as_nobody("netnicectl", *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert "netnice is up, but only root can see and change what is loaded" in done.stderr

    @pytest.mark.usefixtures("down")
    def test_up_and_down(self, as_nobody: Run) -> None:
        up = as_nobody("netnicectl", "up")
        assert up.returncode == 1
        assert "CAP_BPF, CAP_NET_ADMIN, CAP_SYS_ADMIN" in up.stderr
        down = as_nobody("netnicectl", "down")
        assert down.returncode == 1
        assert "only root can unload netnice" in down.stderr

    @pytest.mark.usefixtures("down")
    def test_doctor(self, as_nobody: Run) -> None:
        done = as_nobody("netnicectl", "doctor", "--json")
        assert done.returncode == 1
        assert list(missing(done)) == ["root"]
        assert "'sudo netnicectl up'" in as_nobody("netnicectl", "doctor").stdout.splitlines()[-1]

    @pytest.mark.usefixtures("up")
    def test_doctor_where_netnice_works(self, as_nobody: Run) -> None:
        """Root is needed for nothing that this user asks for."""
        done = as_nobody("netnicectl", "doctor", "--json")
        assert done.returncode == 0
        assert missing(done) == {}
        done = as_nobody("netnicectl", "doctor")
        assert done.returncode == 0
        assert done.stdout.splitlines()[-1] == "netnice is loaded, and 'netnice COMMAND' works for this user."
        assert as_nobody("netnicectl", "up").returncode == 1, "loading takes root"


@pytest.mark.usefixtures("down")
def test_a_healthy_machine() -> None:
    done = netnicectl("doctor", "--json")
    assert missing(done) == {}
    said = netnicectl("doctor").stdout
    assert "MISSING" not in said
    assert said.splitlines()[-1] == "All that netnice needs is there. To load it: 'netnicectl up'."


def test_building_without_type_information() -> None:
    """The build script of the loader says what it lacks."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(program("netnice")).parents[1]))
    scripts = sorted(target.glob("*/build/netnice-loader-*/build-script-build"), key=lambda p: p.stat().st_mtime)
    assert scripts, f"nothing was built in {target}"
    loader = Path(__file__).resolve().parents[2] / "crates" / "loader"
    out = ownership.scratch("build")
    env = {**os.environ, "NETNICE_VMLINUX_BTF": "/nonexistent", "OUT_DIR": str(out), "CARGO_MANIFEST_DIR": str(loader)}
    done = subprocess.run([scripts[-1]], env=env, cwd=loader, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no kernel type information: /nonexistent does not exist" in done.stderr
    assert "Set NETNICE_VMLINUX_BTF=FILE" in done.stderr
