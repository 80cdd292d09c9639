# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The module's package, for kernels that netnice is too new for: DKMS builds it for Debian 12's, and it works there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kernels import archive, machine
from kernels.machine import Report
from packages import package
from packages.chroot import PROGRAMS
from testbed import ownership, program


@pytest.fixture(scope="module")
def kernel() -> Path:
    """One too old for netnice."""
    (found,) = [one for one in archive.kernels() if archive.release(one.name) == archive.TOO_OLD]
    return found


@pytest.fixture(scope="module")
def module(deb: Path, kernel: Path) -> Path:
    """Built by dkms in folders of its own, from what the package installs."""
    folder = ownership.scratch("dkms")
    subprocess.run([program("dpkg-deb"), "-x", package.of_module(deb), folder / "files"], check=True)
    (folder / "tree").mkdir()
    places = ["--dkmstree", str(folder / "tree"), "--sourcetree", str(folder / "files" / "usr" / "src")]
    name = f"netnice/{package.field(deb, 'Version')}"
    for words in (["add"], ["build", "-k", kernel.name, "--kernelsourcedir", str(archive.headers(kernel))]):
        done = subprocess.run([program("dkms"), *places, *words, name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (folder / "tree").rglob("tcp_netnice.ko")
    return built


@pytest.fixture(scope="module")
def report(kernel: Path, module: Path) -> Report:
    """What a machine told that loaded it."""
    files = machine.initramfs(
        kernel, ownership.scratch("machine"), [], [], guest=PROGRAMS / "module.sh", beside=[module]
    )
    return machine.run(kernel, files)


def test_programs_can_choose_it(report: Report) -> None:
    steps = report.steps
    assert "end" in steps, report.console[-3000:]
    assert steps["loaded"].status == 0, steps["loaded"].said
    assert {"netnice", "netnice1", "netnice2", "nice"} <= set(steps["names"].said.split())
    assert "threshold=20," in steps["parameters"].said


def test_it_carries_data(report: Report) -> None:
    """Over connections that hold the module while they are there."""
    said = report.steps["transfer"].said
    assert said.startswith("used by "), said
    assert int(said.split()[2]) > 0


def test_nothing_is_left(report: Report) -> None:
    assert "netnice" not in report.steps["removed"].said
    assert report.steps["log"].said == "0\n"
