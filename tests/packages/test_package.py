# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The packages as files: what is in them, what they need, and that the same tree gives the same bytes."""

from __future__ import annotations

import gzip
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from packages.conftest import TOP, build, field, files, of_module, section
from testbed import program

PROGRAMS = {"netnice", "netnicectl", "netnice-path", "netnice-measure", "netnice-prefetch", "netnice-replay"}


def test_the_same_tree_gives_the_same_bytes(deb: Path, tmp_path: Path) -> None:
    other = build(tmp_path, umask=0o077, TZ="Asia/Tokyo", LC_ALL="C.UTF-8", HOME=str(tmp_path))
    assert other != deb
    assert other.read_bytes() == deb.read_bytes()


def test_the_programs_name_no_folder_of_who_built_them(deb: Path, tmp_path: Path) -> None:
    subprocess.run([program("dpkg-deb"), "--extract", deb, tmp_path], check=True)
    for name in PROGRAMS:
        code = (tmp_path / "usr" / "bin" / name).read_bytes()
        named = [folder for folder in (Path.home(), TOP) if f"{folder}/".encode() in code]
        assert not named, name


def test_it_needs_shared_libraries_and_nothing_else(deb: Path) -> None:
    needed = {word.split()[0] for word in field(deb, "Depends").split(", ")}
    assert needed == {"libc6", "libelf1", "libgcc-s1", "zlib1g"}


def test_each_program_has_a_page_and_completions(deb: Path) -> None:
    installed = files(deb)
    assert {path for path in installed if path.startswith("/usr/bin/")} == {f"/usr/bin/{name}" for name in PROGRAMS}
    for name in PROGRAMS:
        assert {
            f"/usr/share/man/man{section(name)}/{name}.{section(name)}.gz",
            f"/usr/share/bash-completion/completions/{name}",
            f"/usr/share/zsh/vendor-completions/_{name}",
            f"/usr/share/fish/vendor_completions.d/{name}.fish",
        } <= installed
    assert {f"/usr/share/doc/netnice/{name}" for name in ("copyright", "changelog.gz", "CHANGELOG.md.gz")} <= installed
    assert {"/usr/share/man/man5/policy.toml.5.gz", "/usr/share/man/man7/netnice.7.gz"} <= installed
    assert "/usr/share/man/man8/netnicectl-policy-apply.8.gz" in installed
    assert {"/lib/systemd/system/netnice.service", "/etc/netnice/policy.toml"} <= installed


def test_it_brings_the_pages(deb: Path) -> None:
    pages = [TOP / "README.md", *(TOP / "docs").rglob("*.md"), *(TOP / "docs").rglob("*.svg")]
    assert {f"/usr/share/doc/netnice/{page.relative_to(TOP)}" for page in pages} <= files(deb)


def test_it_brings_the_licences_of_what_the_programs_contain(deb: Path, tmp_path: Path) -> None:
    subprocess.run([program("dpkg-deb"), "--extract", deb, tmp_path], check=True)
    told = gzip.decompress((tmp_path / "usr/share/doc/netnice/third-party-licenses.gz").read_bytes()).decode()
    locked = tomllib.loads((TOP / "Cargo.lock").read_text())["package"]
    known = {f"{crate['name']} {crate['version']}" for crate in locked if "source" in crate}
    named = set(re.findall(r"(?m)^(\S+ \d\S*): ", told))
    linked = {name.partition(" ")[0] for name in named}
    assert named <= known
    assert {"libbpf-rs", "libbpf-sys", "clap", "tokio"} <= linked, "what they link"
    assert not {"bindgen", "syn", "proptest"} & linked, "what only a build or a test uses"
    assert "Permission is hereby granted, free of charge" in told


def test_lintian_finds_nothing(deb: Path) -> None:
    done = subprocess.run(
        [program("lintian"), "--allow-root", "--fail-on", "error,warning", deb, of_module(deb)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.verify("takes rpmbuild, which nothing else does")
def test_the_rpm_has_the_same_files(deb: Path, tmp_path: Path) -> None:
    recipe = TOP / "packaging" / "rpm" / "netnice.spec"
    defined = [f"--define=top {TOP}", f"--define=_topdir {tmp_path}"]
    subprocess.run([program("rpmbuild"), "-bb", *defined, recipe], check=True, capture_output=True, timeout=120)
    (rpm,) = tmp_path.glob("RPMS/*/netnice-*.rpm")
    listed = subprocess.run([program("rpm"), "-qpl", rpm], check=True, capture_output=True, text=True).stdout
    names = {path.rpartition("/")[2] for path in listed.splitlines() if "/doc/" not in path}
    ours = {path.rpartition("/")[2].removesuffix(".gz") for path in files(deb) if "/doc/" not in path}
    assert {re.sub(r"\.gz$", "", name) for name in names} >= ours - {"netnice"}
