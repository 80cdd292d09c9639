# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A virtual machine with systemd as process 1 and a package of netnice, and what a script found out in it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from kernels import archive, machine
from kernels.machine import Report
from packages.chroot import PROGRAMS, Chroot
from testbed import program

#: Of the kernels that are tested, the one of most machines: Debian's next stable release has it.
KERNEL = (6, 18)
#: Without hardware's help a processor is some twenty times slower.
SECONDS, MEGABYTES = 280, 1536
#: What no machine needs to run, and a quarter of its files.
_WITHOUT = ("usr/share/doc", "usr/share/locale", "usr/share/man", "usr/share/i18n", "var/cache/apt", "var/lib/apt")
#: What would wait for devices that the machine has not.
_NOT_STARTED = ("serial-getty@ttyS0.service", "proc-sys-fs-binfmt_misc.automount", "systemd-timesyncd.service")
_UNIT = """\
[Unit]
After=netnice.service
[Service]
ExecStart=/probe/probe.sh
StandardInput=null
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
[Install]
WantedBy=multi-user.target
"""
_NAMED = """\
[Unit]
After=netnice.service
[Service]
ExecStart=/usr/bin/sleep infinity
[Install]
WantedBy=multi-user.target
"""
_POLICY = """\
[[rule]]
unit = "named.service"
level = 2
"""


def boot(before: Path, after: Path, folder: Path) -> Report:
    """One with the package ``before``, which is upgraded to ``after``. ``folder`` is for its files."""
    (kernel,) = [one for one in archive.kernels() if archive.release(one.name) == KERNEL]
    with Chroot() as made:
        made.install(before)
        _furnish(made, after, kernel)
        made.run("systemctl", "enable", "probe.service", "named.service")
        made.run("systemctl", "mask", *_NOT_STARTED)
        files = _packed(made.root, folder)
    return machine.run(kernel, files, seconds=SECONDS, megabytes=MEGABYTES)


def _furnish(made: Chroot, after: Path, kernel: Path) -> None:
    root = made.root
    (root / "probe").mkdir()
    for module in kernel.glob("*.ko"):
        shutil.copy(module, root / "probe")
    for file in (machine.STEPS, PROGRAMS / "probe.sh", PROGRAMS / "hold.pl"):
        shutil.copy(file, root / "probe")
    shutil.copy(after, root / "probe" / "new.deb")
    shutil.copy(program("busybox"), root / "usr" / "bin")
    units = root / "etc" / "systemd" / "system"
    (units / "probe.service").write_text(_UNIT)
    (units / "named.service").write_text(_NAMED)
    (root / "etc" / "netnice" / "policy.toml").write_text(_POLICY)
    (root / "init").symlink_to("lib/systemd/systemd")


def _packed(root: Path, folder: Path) -> Path:
    """As the kernel unpacks it."""
    prunes = [word for name in _WITHOUT for word in ("-path", f"./{name}/*", "-prune", "-o")]
    names = subprocess.run(
        [program("find"), ".", "-xdev", *prunes, "-print"], cwd=root, check=True, capture_output=True
    )
    made = folder / "machine"
    with made.open("wb") as out:
        words = [program("cpio"), "--quiet", "-o", "-H", "newc"]
        subprocess.run(words, cwd=root, input=names.stdout, stdout=out, check=True)
    return made
