# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Every kernel that Debian's archive has for virtual machines, booted: all of netnice is loaded, used as root and as a
user, and taken out again. What is claimed to work is what passes here; too old a kernel says what it lacks.
"""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from kernels import archive
from kernels.claims import CLAIMS, holds
from kernels.conftest import Reports
from kernels.machine import Report

#: What is loaded is held by links that Linux has since then, and crates/loader/src/doctor.rs says so.
OLDEST = (6, 4)

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="its machines are x86_64 as this one")


def kernels(*, new: bool) -> list[Path]:
    return [kernel for kernel in archive.kernels() if (archive.release(kernel.name) >= OLDEST) is new]


def told(report: Report) -> str:
    return "\n".join(f"{name} {step.status}\n{step.said}" for name, step in report.steps.items())


def test_there_are_old_and_new_ones() -> None:
    assert kernels(new=False)
    assert len(kernels(new=True)) >= 3


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("kernel", kernels(new=True), ids=lambda kernel: kernel.name)
def test_a_new_kernel_does_it(reports: Reports, kernel: Path, claim: str) -> None:
    report = reports[kernel]
    assert "end" in report.steps, f"it did not come to its end:\n{report.console[-3000:]}"
    assert holds(claim, report) is True, told(report)


@pytest.mark.parametrize("kernel", kernels(new=False), ids=lambda kernel: kernel.name)
def test_an_old_kernel_says_what_it_lacks(reports: Reports, kernel: Path) -> None:
    steps = reports[kernel].steps
    (found,) = [check for check in steps["doctor"].json() if check["name"] == "kernel"]
    assert found["verdict"] == "missing"
    assert "too old" in found["state"]
    assert steps["doctor"].status == 1
    assert steps["up"].status == 1
    assert "boot Linux 6.4 or newer" in steps["up"].said
    assert "netnice-dkms" in steps["up"].said
    assert steps["left"].status == 0
