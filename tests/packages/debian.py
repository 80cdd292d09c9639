# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A small Debian to install packages on: a chroot, in which an image is built, and a virtual machine with systemd."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from kernels import archive, machine
from kernels.machine import Report
from testbed import Process, ownership, program
from testbed.debian import debian
from testbed.namespace import wait_until

PROGRAMS = Path(__file__).with_name("programs")
#: Beside what every Debian has: what reads a unit and a manual page, and a program to be nice.
_INCLUDED = ("systemd", "man-db", "curl")
#: What an installation of netnice would fetch is fetched with it, so that the tests need no network.
_FETCHED = ("libelf1", "zlib1g", "libgcc-s1")
#: sh -c MADE chroot DEBIAN FOLDER COMMAND…, in namespaces made for it: a chroot with DEBIAN's files becomes COMMAND.
#: What it writes goes to FOLDER. Cgroups are those of the real machine, pins are its own.
_MADE = """
set -eu
debian=$1 folder=$2
shift 2
mkdir -p "$folder/upper" "$folder/work" "$folder/root"
mount --make-rprivate /
root=$folder/root
mount -t overlay -o "lowerdir=$debian,upperdir=$folder/upper,workdir=$folder/work" overlay "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t bpf bpf "$root/sys/fs/bpf"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
exec chroot "$root" "$@"
"""
_ENTER = ("--mount", "--uts", "--ipc", "--net", "--root", "--wd")
#: Of the kernels that are tested, the one of most machines: Debian's next stable release has it.
KERNEL = (6, 18)
#: Without hardware's help a processor is some twenty times slower.
SECONDS, MEGABYTES = 600, 1536
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


class Chroot(ownership.Owned):
    """Its files on a disk of their own, and a process that holds its namespaces."""

    def __init__(self) -> None:
        super().__init__()
        holder = ["sleep", "infinity"]
        words = [program("unshare"), "--mount", "--uts", "--ipc", "--net"]
        made = ["sh", "-c", _MADE, "chroot", str(debian(_INCLUDED, _FETCHED)), str(ownership.scratch("chroot"))]
        process = self._parts.enter_context(Process([*words, *made, *holder], stderr=subprocess.DEVNULL))
        self._pid = process.pid
        comm = Path(f"/proc/{self._pid}/comm")
        wait_until(lambda: comm.read_text() == "sleep\n", "the chroot", process=process)

    @property
    def root(self) -> Path:
        """Its files, as seen from outside."""
        return Path(f"/proc/{self._pid}/root")

    def run(self, *argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program in it."""
        done = subprocess.run(
            [program("nsenter"), "--target", str(self._pid), *_ENTER, "--", *argv],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
        )
        assert not check or done.returncode == 0, f"{argv} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done

    def install(self, package: Path) -> str:
        """As a user does: apt install ./netnice.deb."""
        shutil.copy(package, self.root / "tmp")
        return self.run("apt-get", "-q", "-y", "install", f"/tmp/{package.name}").stdout


def boot(before: Path, after: Path, folder: Path) -> Report:
    """One with the package ``before``, which is upgraded to ``after``. ``folder`` is for its files."""
    (kernel,) = [one for one in archive.kernels() if archive.release(one.name) == KERNEL]
    with Chroot() as made:
        made.install(before)
        _furnish(made, after, kernel)
        made.run("systemctl", "enable", "probe.service", "named.service")
        made.run("systemctl", "mask", *_NOT_STARTED)
        files = machine.packed(made.root, folder / "machine", *_WITHOUT)
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
