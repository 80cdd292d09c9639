# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""In a chroot, as when an image is built: it installs, it works, and leaves alone what it finds loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from packages import package
from packages.chroot import Chroot

SOMEBODYS = "/sys/fs/bpf/netnice"


@pytest.fixture
def chroot() -> Iterator[Chroot]:
    """A Debian without systemd running, in which somebody else's netnice is to be seen."""
    with Chroot() as made:
        made.run("mkdir", SOMEBODYS)
        yield made


def of_netnice(chroot: Chroot) -> set[str]:
    """The files of that name on its disk."""
    return set(chroot.run("find", "/", "-xdev", "-path", "*netnice*", "-not", "-path", "/tmp/*").stdout.split())


def test_what_a_user_has_then(chroot: Chroot, deb: Path) -> None:
    assert "libelf1" in chroot.install(deb)
    assert chroot.run("netnice", "--version").stdout.startswith("netnice ")
    for name in ("netnice", "netnicectl", "netnicectl-up", "netnice-path", "netnice-measure", "netnice-prefetch"):
        assert chroot.run("man", "--where", name).stdout == f"/usr/share/man/man1/{name}.1.gz\n"
    assert "kernel" in chroot.run("netnicectl", "doctor", check=False).stdout
    assert chroot.run("which", "python3", "cc", "clang", check=False).stdout == ""


def test_upgrade_remove_and_purge(chroot: Chroot, deb: Path, older_deb: Path) -> None:
    before = of_netnice(chroot)
    chroot.install(older_deb)
    installed = of_netnice(chroot)
    chroot.install(deb)
    assert of_netnice(chroot) == installed
    assert chroot.run("dpkg-query", "-Wf", "${Version}", "netnice").stdout == package.field(deb, "Version")
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
