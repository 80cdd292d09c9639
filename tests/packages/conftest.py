# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The Debian packages, as built here and as an older one would be, and what is in them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from testbed import ownership, program

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def deb() -> Path:
    """The package of this tree."""
    return build(ownership.scratch("package"))


@pytest.fixture(scope="session")
def older_deb(deb: Path) -> Path:
    """The same under a lower version."""
    return older(deb, ownership.scratch("older"))


def build(folder: Path, umask: int = 0o022, **environment: str) -> Path:
    """Packs what 'make build' made, and compresses it quickly."""
    quickly = {"DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    done = subprocess.run(
        [TOP / "packaging" / "deb", folder],
        capture_output=True, text=True, timeout=120, check=False, umask=umask, env=os.environ | quickly | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1])


def of_module(deb: Path) -> Path:
    """That of the module's sources, which is made beside."""
    (found,) = deb.parent.glob("netnice-dkms_*_all.deb")
    return found


def field(package: Path, name: str) -> str:
    """A field of its control file."""
    words = [program("dpkg-deb"), "--field", str(package), name]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def files(package: Path) -> set[str]:
    """What it installs, by absolute path."""
    shown = subprocess.run([program("dpkg-deb"), "--contents", package], check=True, capture_output=True, text=True)
    paths = {line.split()[5].removeprefix(".") for line in shown.stdout.splitlines()}
    return {path for path in paths if not path.endswith("/")}


def section(name: str) -> int:
    """Of the manual: that of a program."""
    return 8 if name.startswith("netnicectl") else 1


def older(package: Path, folder: Path, version: str = "0.0.1") -> Path:
    """The same under a lower version, and by the number that it has of itself another build."""
    opened = folder / "opened"
    subprocess.run([program("dpkg-deb"), "--raw-extract", package, opened], check=True)
    control = opened / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text()))
    _as_another_build([opened / "usr" / "bin" / name for name in ("netnicectl", "netnice")])
    made = folder / f"netnice_{version}.deb"
    words = ["--root-owner-group", "-Znone", "--build", str(opened), str(made)]
    subprocess.run([program("dpkg-deb"), *words], check=True, stdout=subprocess.DEVNULL)
    return made


def _as_another_build(binaries: list[Path]) -> None:
    """A build is known by a hash of its eBPF, in hexadecimal digits, which the first of them names most often.

    A table of decimal digits, by which programs write numbers, is named as often.
    """
    code = binaries[0].read_bytes()
    digits = {one for one in re.findall(rb"(?=([0-9a-f]{64}))", code) if re.search(rb"[a-f]", one)}
    number = max(digits, key=code.count)
    assert code.count(number) > 1
    for binary in binaries:
        code = binary.read_bytes()
        assert number in code, binary
        binary.write_bytes(code.replace(number, b"0" * len(number)))
