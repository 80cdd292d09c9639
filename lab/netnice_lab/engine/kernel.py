# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The guest kernel: Debian's linux-source as User-Mode Linux with time travel, built once and cached."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from netnice_lab import places
from netnice_lab.errors import LabError, run

SOURCE_PACKAGE = "linux-source-6.12"
SOURCE_VERSION = "6.12.117-1~deb12u1"
TARBALL = "./usr/src/linux-source-6.12.tar.xz"
TOOLS = {
    "bc": "bc",
    "bison": "bison",
    "flex": "flex",
    "gcc": "gcc",
    "make": "make",
    "pahole": "dwarves",
    "patch": "patch",
    "xz": "xz-utils",
    "dpkg-deb": "dpkg",
    "setarch": "util-linux",
    "ip": "iproute2",
    "tc": "iproute2",
}
# What an ARCH=um build of our configuration reads: a quarter of the files, and each one unpacked costs time.
READ = """
    Kbuild Kconfig Makefile */Kbuild* */Kconfig* */Makefile* arch/um arch/x86 drivers/base drivers/char
    drivers/net/dummy.c drivers/net/ifb.c drivers/net/loopback.c drivers/net/tun.c drivers/net/veth.c drivers/tty
    block crypto fs include init io_uring ipc kernel lib mm net scripts security
    tools/arch tools/bpf/resolve_btfids tools/build tools/include tools/lib tools/scripts usr
"""
PATCHES = ("virtual-time.patch", "speed.patch", "host-registers.patch", "typed-reads.patch")
MEMORY = "512M"
EPOCH = 1_700_000_000_000_000_000
EXPECTED_COMPILES = 640
"""Lines 'CC …' of a whole build: only the progress bar needs it."""

Progress = Callable[[str, float], None]
"""Called with a stage and the part of it that is done, 0 to 1."""


@dataclass(frozen=True)
class Kernel:
    """A built kernel: the program to run and the tree modules are compiled against."""

    key: str
    program: Path
    tree: Path


def inputs() -> list[Path]:
    """The files that decide what the kernel is."""
    return [places.KERNEL_SOURCES / "config.fragment", *patches()]


def patches() -> list[Path]:
    """What is changed in Debian's source, in the order in which it is applied."""
    return [places.KERNEL_SOURCES / name for name in PATCHES]


def key() -> str:
    """The name the kernel is cached under."""
    return places.digest_files(inputs(), SOURCE_PACKAGE, SOURCE_VERSION)


def options(seed: int) -> list[str]:
    """What a guest's kernel is started with, besides the places of files."""
    return [
        f"mem={MEMORY}",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "time-travel=inf-cpu",
        f"time-travel-start={EPOCH}",
        "quiet",
        f"det_rng_seed={seed + 1}",
        f"LABSEED={seed + 1}",
        "ipv6.disable_ipv6=1",  # neighbour discovery would share the links; an experiment that wants IPv6 enables it
        "con=null",
        "con0=fd:0,fd:1",
    ]


def find() -> Kernel | None:
    """The cached kernel, if there is one."""
    home = places.cache() / key()
    if (home / "complete").exists():
        return Kernel(key(), home / "linux", home / "tree")
    return None


def require() -> Kernel:
    """The cached kernel, or an error that says how to get one."""
    kernel = find()
    if kernel is None:
        raise LabError(
            "the lab's kernel is not built",
            f"{places.cache() / key()} does not exist or is incomplete",
            "lab/netnice-lab build",
        )
    return kernel


def build(progress: Progress) -> Kernel:
    """Download, patch and compile the kernel unless it is cached."""
    if (kernel := find()) is not None:
        return kernel
    ensure_tools(progress)
    home = places.cache() / key()
    needed = 3 << 30
    if (free := shutil.disk_usage(places.cache()).free) < needed:
        raise LabError(
            f"not enough disk space in {places.cache()}",
            f"{free >> 20} MB free, the build needs {needed >> 20} MB",
            "free some space or set XDG_CACHE_HOME to another file system",
        )
    with tempfile.TemporaryDirectory(prefix="build-", dir=places.cache()) as scratch:
        work = Path(scratch)
        package = download(progress)
        tree = work / "tree"
        tree.mkdir()
        unpack(package, tree, progress)
        configure(tree)
        compile_tree(tree, progress)
        prune(tree)
        run(["strip", "-g", "-o", str(work / "linux"), str(tree / "linux")], work)
        (work / "complete").write_text(f"{SOURCE_PACKAGE} {SOURCE_VERSION}\n")
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        for name in ("linux", "tree", "complete"):
            (work / name).rename(home / name)
    return require()


def ensure_tools(progress: Progress) -> None:
    """Install what the compilation needs; without root, say what to install."""
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    if not Path("/usr/include/stdio.h").exists():
        missing.append("libc6-dev")
    if not missing:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise LabError(
            f"missing build tools: {' '.join(missing)}",
            "they are needed to compile the lab's kernel",
            f"sudo apt-get install {' '.join(missing)}",
        )
    progress(f"installing {' '.join(missing)}", 0.0)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "-q", "update"],
        ["apt-get", "install", "-qqy", "--no-install-recommends", *missing],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise LabError(
                f"could not install {' '.join(missing)}",
                done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "apt-get failed",
                f"sudo apt-get install {' '.join(missing)}",
            )


def download(progress: Progress) -> Path:
    """Fetch the pinned source package through apt, once."""
    store = places.cache() / "downloads"
    store.mkdir(exist_ok=True)
    version = SOURCE_VERSION.replace(":", "%3a")
    package = store / f"{SOURCE_PACKAGE}_{version}_all.deb"
    if package.exists():
        return package
    progress("downloading the kernel source (153 MB)", 0.0)
    command = [
        "apt-get",
        "-o",
        "APT::Sandbox::User=root",
        "download",
        "-q",
        f"{SOURCE_PACKAGE}={SOURCE_VERSION}",
    ]
    with tempfile.TemporaryDirectory(prefix="part-", dir=store) as scratch:
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
        if done.returncode != 0:
            subprocess.run(["apt-get", "-q", "update"], capture_output=True)
            done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
        found = list(Path(scratch).glob("*.deb"))
        if done.returncode != 0 or not found:
            raise LabError(
                f"could not download {SOURCE_PACKAGE} {SOURCE_VERSION}",
                (done.stderr.strip().splitlines() or ["apt-get download failed"])[-1],
                f"check the network and apt's sources, or put the package at {package}",
            )
        found[0].rename(package)
    progress("downloading the kernel source (153 MB)", 1.0)
    return package


def unpack(package: Path, tree: Path, progress: Progress) -> None:
    """Unpack the part of the source that an ARCH=um build reads, and patch it."""
    progress("unpacking", 0.0)
    wanted = " ".join(f"'{SOURCE_PACKAGE}/{pattern}'" for pattern in READ.split())
    pipeline = (
        f"dpkg-deb --fsys-tarfile '{package}' | tar xO {TARBALL} | xz -dcT0 | "
        f"tar x -C '{tree}' --strip-components=1 --wildcards {wanted}"
    )
    run(["bash", "-o", "pipefail", "-c", pipeline], tree)
    for change in patches():
        run(["patch", "-sp1", "-i", str(change)], tree)
    progress("unpacking", 1.0)


def configure(tree: Path) -> None:
    """Configure, and refuse a kernel that silently dropped a wanted option."""
    fragment = places.KERNEL_SOURCES / "config.fragment"
    run(
        ["make", "-s", "ARCH=um", "allnoconfig", f"KCONFIG_ALLCONFIG={fragment}"],
        tree,
        environment(),
    )
    wanted = [line for line in fragment.read_text().splitlines() if line.startswith("CONFIG_")]
    got = set((tree / ".config").read_text().splitlines())
    if dropped := [line for line in wanted if line not in got]:
        raise LabError("the kernel's configuration dropped options", " ".join(dropped), "mend config.fragment")


def environment() -> dict[str, str]:
    """No host name, user or date in the kernel: the same inputs give the same program."""
    return os.environ | {
        "KBUILD_BUILD_TIMESTAMP": "2026-01-01",
        "KBUILD_BUILD_USER": "netnice",
        "KBUILD_BUILD_HOST": "lab",
    }


def compile_tree(tree: Path, progress: Progress) -> None:
    """Compile, niced, with the number of compiled files as progress."""
    # a pinned source has no new warnings to look for
    command = ["nice", "make", "ARCH=um", "KCFLAGS=-w", f"-j{os.cpu_count() or 1}", "linux", "modules"]
    tail: list[str] = []
    compiled = 0
    with subprocess.Popen(
        command,
        cwd=tree,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as make:
        assert make.stdout is not None
        for line in make.stdout:
            tail = [*tail[-20:], line.rstrip()]
            compiled += line.startswith("  CC ")
            progress("compiling", min(1.0, compiled / EXPECTED_COMPILES))
    if make.returncode != 0:
        raise LabError("the kernel did not compile", "\n".join(tail), "see the lines above")
    progress("compiling", 1.0)


def prune(tree: Path) -> None:
    """Drop objects and sources no module build reads."""
    for directory in ("drivers", "fs", "sound", "mm", "crypto", "samples", "Documentation"):
        for file in (tree / directory).rglob("*"):
            if file.is_file() and not file.name.startswith(("Makefile", "Kconfig")):
                file.unlink()
    for suffix in ("*.o", "*.a"):
        for file in tree.rglob(suffix):
            if "scripts" not in file.parts and "tools" not in file.parts:
                file.unlink()
