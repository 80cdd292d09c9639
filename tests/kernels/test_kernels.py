# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Every kernel that Debian's archive has for virtual machines, booted.

All of netnice is loaded, used as root and as a user, and unloaded. The pages claim to work what passes here. On a
kernel that is too old netnice says what it lacks.
"""

from __future__ import annotations

import os
import platform

import pytest

from kernels import archive
from kernels.machine import Report
from kernels.matrix import CLAIMS, holds, reports

#: Pinned links of this release and later keep what is loaded. On an older one `netnicectl up` and `doctor` say so.
OLDEST = (6, 4)
NEW, OLD = ([one for one in archive.wanted() if (one >= OLDEST) is new] for new in (True, False))

pytestmark = [
    pytest.mark.verify("boots seven kernels without hardware's help"),
    pytest.mark.timeout(900),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="its machines are x86_64 as this one"),
]
Reports = dict[tuple[int, int], Report]


@pytest.fixture(scope="module")
def found() -> Reports:
    """By release. NETNICE_PIN=1: the verifier's numbers become those that the machines found."""
    made = reports(pin="NETNICE_PIN" in os.environ)
    return {archive.release(kernel.name): report for kernel, report in made.items()}


def of(found: Reports, release: tuple[int, int]) -> Report:
    if release not in found:
        pytest.xfail("Debian's archive has it no longer, or without its modules")
    report = found[release]
    assert "end" in report.steps, f"it did not come to its end:\n{report.console[-3000:]}"
    return report


def test_there_are_old_and_new_ones(found: Reports) -> None:
    assert len(set(found) & set(OLD)) >= 1
    assert len(set(found) & set(NEW)) >= 3


@pytest.mark.parametrize("release", NEW, ids=lambda release: "{}.{}".format(*release))
def test_a_new_kernel_does_it_all(found: Reports, release: tuple[int, int]) -> None:
    report = of(found, release)
    told = "\n".join(f"{name} {step.status}\n{step.said}" for name, step in report.steps.items())
    assert [claim for claim in CLAIMS if holds(claim, report) is not True] == [], told


@pytest.mark.parametrize("release", OLD, ids=lambda release: "{}.{}".format(*release))
def test_an_old_kernel_says_what_it_lacks(found: Reports, release: tuple[int, int]) -> None:
    steps = of(found, release).steps
    (check,) = [check for check in steps["doctor"].json() if check["name"] == "kernel"]
    assert check["verdict"] == "missing"
    assert "too old" in check["state"]
    assert steps["doctor"].status == 1
    assert steps["up"].status == 1
    assert "boot Linux 6.4 or newer" in steps["up"].said
    assert "netnice-dkms" in steps["up"].said
    assert steps["left"].status == 0
