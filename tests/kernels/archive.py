# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Debian's kernels for virtual machines, of several releases of Debian: the newest of each release, fetched once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

#: The releases whose kernels are wanted: old, new, and newer than the newest.
SUITES = ("bookworm", "bookworm-backports", "trixie-backports")
#: Without them ss and netnicectl see no connections, there is no cable between two namespaces, and no fq on it.
MODULES = ("inet_diag", "tcp_diag", "veth", "sch_fq")
#: A file for each release whose programs' cost to the verifier is known.
PINS = Path(__file__).parent.with_name("verifier")
#: Too old, and what Debian 12 has.
TOO_OLD = (6, 1)
#: Linux for virtual machines: small, with type information, and signed or not the same.
KERNEL = re.compile(r"^linux-image-(\d+\.\d+\S*-cloud-amd64)$")
#: Packages of one, as far as there are: since Linux 7.2 an image is in parts.
PARTS = ("image", "binary", "modules")

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netnice" / "kernels"


def release(version: str) -> tuple[int, int]:
    """(6, 12) of 6.12.95+deb12-cloud-amd64."""
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def wanted() -> list[tuple[int, int]]:
    """Releases: those with pins, one that is too old, and those that NETNICE_KERNELS names ("6.19 7.0")."""
    pinned = [path.stem for path in PINS.glob("*.json")]
    named = os.environ.get("NETNICE_KERNELS", "").split()
    return sorted({TOO_OLD, *(release(name) for name in [*pinned, *named])})


def kernels() -> list[Path]:
    """A folder for each release that is wanted and available, the oldest first: vmlinuz, and the modules to load."""
    found = _newest(folder.name for folder in CACHE.glob("*-cloud-amd64"))
    missing = [number for number in wanted() if number not in found]
    if missing:
        apt = _Apt(CACHE / "apt")
        apt.run("apt-get", "-q", "update")
        packages = apt.run("apt-cache", "pkgnames", "linux-").split()
        there = _newest(match[1] for match in map(KERNEL.match, packages) if match)
        for number in missing:
            if number in there:
                parts = [f"linux-{part}-{there[number]}" for part in PARTS]
                if _unpack(apt, there[number], [part for part in parts if part in packages]):
                    found[number] = there[number]
    return [CACHE / found[number] for number in wanted() if number in found]


def headers(kernel: Path) -> Path:
    """What a module for it is built with, as DKMS wants it: a folder with a Makefile."""
    version = kernel.name
    base, (major, minor) = version.removesuffix("-cloud-amd64"), release(version)
    folder = CACHE.with_name("kernel-headers") / version
    if not folder.is_dir():
        names = [f"linux-headers-{version}", f"linux-headers-{base}-common", f"linux-kbuild-{major}.{minor}"]
        room = folder.with_name(f"{version}.unfinished")
        _download(_Apt(CACHE / "apt"), names, room)
        makefile = room / "usr" / "src" / names[0] / "Makefile"
        makefile.write_text(makefile.read_text().replace("/usr/src", str(folder / "usr" / "src")))
        room.rename(folder)
    return folder / "usr" / "src" / f"linux-headers-{version}"


def _download(apt: _Apt, packages: list[str], room: Path) -> None:
    """Their files, in a folder that is made anew."""
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(parents=True)
    apt.run("apt-get", "-q", "download", *packages, cwd=room)
    for deb in room.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", deb, room], check=True)
        deb.unlink()


def _newest(versions: Iterable[str]) -> dict[tuple[int, int], str]:
    """Of each release."""
    in_order = sorted(versions, key=lambda version: [int(number) for number in re.findall(r"\d+", version)])
    return {release(version): version for version in in_order}


class _Apt:
    """apt with lists and sources of its own: nothing of the machine's is changed."""

    def __init__(self, folder: Path) -> None:
        (folder / "lists").mkdir(parents=True, exist_ok=True)
        (folder / "cache").mkdir(exist_ok=True)
        self._conf = folder / "apt.conf"
        sources = folder / "sources.list"
        mirror = _mirror()
        sources.write_text("".join(f"deb {mirror} {suite} main\n" for suite in SUITES))
        self._conf.write_text(
            f'Dir::Etc::sourcelist "{sources}";\nDir::Etc::sourceparts "-";\n'
            f'Dir::State::lists "{folder / "lists"}";\nDir::Cache "{folder / "cache"}";\n'
            'Acquire::Languages "none";\nAPT::Sandbox::User "";\n'
        )

    def run(self, *argv: str, cwd: Path | None = None) -> str:
        env = {**os.environ, "APT_CONFIG": str(self._conf)}
        done = subprocess.run(argv, check=True, capture_output=True, text=True, env=env, cwd=cwd, timeout=280)
        return done.stdout


def _mirror() -> str:
    """That of this machine's own packages."""
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)"], check=True, capture_output=True, text=True
    )
    mirrors = [line for line in done.stdout.split() if line.rstrip("/").endswith("/debian")]
    if not mirrors:
        raise LookupError("no mirror of Debian is among apt's sources: kernels cannot be fetched")
    return mirrors[0]


def _unpack(apt: _Apt, version: str, packages: list[str]) -> bool:
    """Whether it is whole: of some, the archive has no modules."""
    room = CACHE / f"{version}.unfinished"
    shutil.rmtree(room, ignore_errors=True)
    _download(apt, packages, room / "all")
    for number, name in enumerate(MODULES):
        for module in (room / "all").rglob(f"{name}.ko*"):
            plain = room / f"{number}-{name}.ko"
            if module.suffix == ".xz":
                plain.write_bytes(subprocess.run(["xz", "-dc", module], check=True, capture_output=True).stdout)
            else:
                shutil.copy(module, plain)
    (kernel,) = (room / "all").rglob("vmlinuz*")
    shutil.copy(kernel, room / "vmlinuz")
    shutil.rmtree(room / "all")
    whole = len(list(room.glob("*.ko"))) == len(MODULES)
    if whole:
        room.rename(CACHE / version)
    else:
        shutil.rmtree(room)
    return whole
