# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The packages installed. In a chroot, where an image is built, netnice works and leaves alone what it finds loaded.
With systemd as process 1 the service loads it at boot, and services in the background keep all that systemd gives them.
The module's package is for a kernel that netnice is too new for.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernels import archive, machine
from kernels.machine import Step
from packages import debian
from packages.conftest import field, of_module, section
from packages.debian import PROGRAMS, Chroot
from testbed import ownership, program

pytestmark = [
    pytest.mark.verify("installs on a Debian that is made for it, and boots two machines without hardware's help"),
    pytest.mark.timeout(600),
]

SOMEBODYS = "/sys/fs/bpf/netnice"


@pytest.fixture
def chroot() -> Iterator[Chroot]:
    """A Debian without systemd running, in which the host's netnice is to be seen."""
    with Chroot() as made:
        made.run("mkdir", SOMEBODYS)
        yield made


def of_netnice(chroot: Chroot) -> set[str]:
    """Its files on the disk."""
    named = ["(", "-path", "*netnice*", "-o", "-name", "policy.toml*", ")"]
    return set(chroot.run("find", "/", "-xdev", *named, "-not", "-path", "/tmp/*").stdout.split())


def test_what_a_user_has_then(chroot: Chroot, deb: Path) -> None:
    said = chroot.install(deb)
    assert "libelf1" in said
    assert "To load it, as root, after each boot: netnicectl up" in said, "systemd is not running there"
    assert "To see what it does, as root, before or after: netnicectl demo" in said
    assert chroot.run("netnice", "--version").stdout.startswith("netnice ")
    of_netnicectl = ("netnicectl", "netnicectl-up", "netnicectl-demo", "netnicectl-try")
    for name in ("netnice", *of_netnicectl, "netnice-path", "netnice-measure", "netnice-prefetch"):
        number = section(name)
        assert chroot.run("man", "--where", name).stdout == f"/usr/share/man/man{number}/{name}.{number}.gz\n"
    assert chroot.run("man", "--where", "policy.toml").stdout == "/usr/share/man/man5/policy.toml.5.gz\n"
    assert chroot.run("man", "--where", "7", "netnice").stdout == "/usr/share/man/man7/netnice.7.gz\n"
    assert "kernel" in chroot.run("netnicectl", "doctor", check=False).stdout
    assert chroot.run("which", "python3", "cc", "clang", check=False).stdout == ""


def test_upgrade_remove_and_purge(chroot: Chroot, deb: Path, older_deb: Path) -> None:
    before = of_netnice(chroot)
    chroot.install(older_deb)
    installed = of_netnice(chroot)
    chroot.install(deb)
    assert of_netnice(chroot) == installed
    assert chroot.run("dpkg-query", "-Wf", "${Version}", "netnice").stdout == field(deb, "Version")
    chroot.run("apt-get", "-y", "remove", "netnice")
    assert not [path for path in of_netnice(chroot) - before if path.startswith(("/usr", "/lib"))]
    chroot.run("apt-get", "-y", "purge", "netnice")
    assert of_netnice(chroot) == before
    chroot.run("test", "-d", SOMEBODYS)


def test_the_unit_is_understood(chroot: Chroot, deb: Path) -> None:
    chroot.install(deb)
    unit = "/lib/systemd/system/netnice.service"
    verified = chroot.run("systemd-analyze", "verify", unit)
    assert (verified.stdout, verified.stderr) == ("", "")
    # 3.5: what is open by need. A unit without any sandbox has 9.6.
    chroot.run("systemd-analyze", "security", "--offline=true", "--threshold=35", unit)


def lines(step: Step) -> list[str]:
    assert step.status == 0, step.said
    return step.said.splitlines()


def value(step: Step, begins: str) -> Any:
    """The JSON that begins with these characters on a line of their own."""
    found: Any = json.JSONDecoder().raw_decode(step.said[step.said.index(begins) :])[0]
    return found


def test_a_machine_with_systemd(older_deb: Path, deb: Path) -> None:
    report = debian.boot(older_deb, deb, ownership.scratch("machine"))
    steps = report.steps
    assert "end" in steps, report.console[-4000:]

    # The sandboxed service loads netnice at boot, and what the policy names is in the background.
    assert set(lines(steps["active"])) == {"ActiveState=active", "Result=success", "ExecMainStatus=0"}
    status = value(steps["status"], "{")
    assert (status["condition"], status["loaded"]["hindered"]) == ("up", None)
    named = value(steps["named"], "{")
    assert (named["cgroup"], named["in_effect"]["level"]) == ("system.slice/named.service", 2)

    # A user's service that runs its program by `netnice` yields where it is, keeps its limit of memory, and can be
    # stopped. It keeps its filter and its account (IPAddressDeny, IPAccounting), also while netnice restarts.
    job = lines(steps["job"])
    assert value(steps["job"], "{")["connections"] == {"netnice1": 1}
    assert {"0::/system.slice/job.service", str(64 << 20)} <= set(job)
    assert {"the filter holds", "its traffic is accounted for"} <= set(job)
    assert lines(steps["without"]) == ["the filter holds"] * 2 + ["active"]
    assert lines(steps["hog"]) == ["oom-kill"]
    assert lines(steps["stop"]) == ["it ended"]

    # An upgrade loses none of a thousand connections, each is at its level, and the new build is loaded.
    upgrade = steps["upgrade"]
    assert "carried 1000" in lines(upgrade)
    assert "loaded by another build" in upgrade.said
    assert value(upgrade, "{")["same_build"]
    assert '"netnice1": 2000' in upgrade.said

    # Nothing is left when it is removed.
    assert lines(steps["removed"]) == []


def built_by_dkms(deb: Path, kernel: Path) -> Path:
    """The module, in folders of its own, from what its package installs."""
    folder = ownership.scratch("dkms")
    subprocess.run([program("dpkg-deb"), "-x", of_module(deb), folder / "files"], check=True)
    (folder / "tree").mkdir()
    places = ["--dkmstree", str(folder / "tree"), "--sourcetree", str(folder / "files" / "usr" / "src")]
    name = f"netnice/{field(deb, 'Version')}"
    for words in (["add"], ["build", "-k", kernel.name, "--kernelsourcedir", str(archive.headers(kernel))]):
        done = subprocess.run([program("dkms"), *places, *words, name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (folder / "tree").rglob("tcp_netnice.ko")
    return built


def test_the_module_on_an_old_kernel(deb: Path) -> None:
    """DKMS builds it for Debian 12's. Programs can choose it, it carries data, and nothing is left of it."""
    (kernel,) = [one for one in archive.kernels() if archive.release(one.name) == archive.TOO_OLD]
    beside = [built_by_dkms(deb, kernel)]
    files = machine.initramfs(kernel, ownership.scratch("module"), [], [], guest=PROGRAMS / "module.sh", beside=beside)
    report = machine.run(kernel, files)
    steps = report.steps
    assert "end" in steps, report.console[-3000:]

    assert steps["loaded"].status == 0, steps["loaded"].said
    assert {"netnice", "netnice1", "netnice2", "nice"} <= set(steps["names"].said.split())
    assert "threshold=20," in steps["parameters"].said

    # Connections hold the module while they are there.
    said = steps["transfer"].said
    assert said.startswith("used by "), said
    assert int(said.split()[2]) > 0

    assert "netnice" not in steps["removed"].said
    assert steps["log"].said == "0\n"
