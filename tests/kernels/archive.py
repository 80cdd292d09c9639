# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Debian's kernels for virtual machines, of several releases of Debian: what its archive has, fetched once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

#: The releases whose kernels are wanted: old, new, and newer than the newest.
SUITES = ("bookworm", "bookworm-backports", "trixie-backports")
#: Without them ss and netnicectl see no connections, and there is no cable between two namespaces.
MODULES = ("inet_diag", "tcp_diag", "veth")
#: What the archive has is looked at again after so many seconds: kernels come and go there every few weeks.
FRESH = 14 * 86400
#: Linux for virtual machines: small, with type information, and signed or not the same.
KERNEL = re.compile(r"^linux-image-(\d+\.\d+\S*-cloud-amd64)$")

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netnice" / "kernels"


def release(version: str) -> tuple[int, int]:
    """(6, 12) of 6.12.95+deb12-cloud-amd64."""
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def kernels() -> list[Path]:
    """A folder for each release of Linux, the oldest first: vmlinuz, and the modules in the order to load them."""
    if not _fresh():
        _fetch()
    newest: dict[tuple[int, int], Path] = {}
    for folder in sorted(CACHE.glob("*-cloud-amd64"), key=lambda path: [int(n) for n in re.findall(r"\d+", path.name)]):
        newest[release(folder.name)] = folder
    return [newest[number] for number in sorted(newest)]


def _fresh() -> bool:
    mark = CACHE / "apt" / "updated"
    return mark.exists() and time.time() - mark.stat().st_mtime < FRESH


def _fetch() -> None:
    """What the archive has and the cache has not. Without a network the cache has to do."""
    apt = _Apt(CACHE / "apt")
    try:
        apt.run("apt-get", "-q", "update")
        for package in apt.run("apt-cache", "pkgnames", "linux-image-").split():
            match = KERNEL.match(package)
            if match and not (CACHE / match[1]).is_dir():
                _unpack(apt, package, match[1])
    except subprocess.CalledProcessError:
        if not list(CACHE.glob("*-cloud-amd64")):
            raise
        return
    (CACHE / "apt" / "updated").touch()


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


def _unpack(apt: _Apt, package: str, version: str) -> None:
    room = CACHE / f"{version}.unfinished"
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(parents=True)
    apt.run("apt-get", "-q", "download", package, cwd=room)
    (deb,) = room.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", deb, room / "all"], check=True)
    for number, name in enumerate(MODULES):
        for module in (room / "all").rglob(f"{name}.ko*"):
            plain = room / f"{number}-{name}.ko"
            if module.suffix == ".xz":
                plain.write_bytes(subprocess.run(["xz", "-dc", module], check=True, capture_output=True).stdout)
            else:
                shutil.copy(module, plain)
    (kernel,) = (room / "all" / "boot").glob("vmlinuz-*")
    shutil.copy(kernel, room / "vmlinuz")
    shutil.rmtree(room / "all")
    deb.unlink()
    room.rename(CACHE / version)
