# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The sources of a run: what a build reads, what a key tells apart; host and guest make the same windows."""

import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from netnice_lab import places
from netnice_lab.engine import kernel, machine, programs
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.errors import run as build_step
from netnice_lab.model.parameters import Parameters
from netnice_lab.model.scenario import Run


def test_the_module_and_the_ebpf_object_are_the_same_source() -> None:
    shims = [places.SHIMS / "sender" / "module" / "netnice.c", places.SHIMS / "sender" / "bpf" / "sender.bpf.c"]
    for shim in shims:
        assert '#include "../sender.c"' in shim.read_text()
    assert "#if" not in (places.SHIMS / "sender" / "sender.c").read_text()


def test_parameters_are_those_of_the_cores() -> None:
    parameters = Parameters.read()
    assert parameters.row("netnice", {}) == parameters.rows["netnice"]
    assert parameters.row("netnice", {"threshold": 7})[parameters.names.index("threshold")] == 7
    assert parameters.setting("netnice", {"threshold": 7, "fraction": 8}) == "netnice=threshold=7,fraction=8"
    with pytest.raises(LabError, match=r"netnice: threshold=101(.|\n)*0 to 100"):
        parameters.within("netnice", {"threshold": 101})
    with pytest.raises(LabError, match=r"no parameter 'treshold'(.|\n)*threshold"):
        parameters.row("netnice", {"treshold": 1})
    with pytest.raises(LabError, match="unknown algorithm"):
        parameters.row("ncie", {})


@pytest.mark.parametrize("tree", [places.CORES, places.SHIMS])
def test_every_header_of_cores_and_shims_is_watched(tree: Path) -> None:
    """A core may include any of them: delay.h of the receivers has ../tick.h."""
    watched = set(programs.sources())
    headers = {file for file in tree.rglob("*.[ch]") if not file.name.endswith(".mod.c")}
    assert headers and headers <= watched


def test_a_key_tells_files_of_one_name_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "CLONE", tmp_path)
    files = [tmp_path / "sender" / "flow.h", tmp_path / "receiver" / "flow.h"]
    keys = set()
    for first, second in (("a", "b"), ("b", "a")):
        for file, text in zip(files, (first, second), strict=True):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        keys.add(places.digest_tree(places.sources(tmp_path)))
    assert len(keys) == 2


def test_a_missing_kernel_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "find", lambda: None)
    with pytest.raises(LabError, match="netnice-lab build"):
        kernel.require()


def test_a_missing_compiler_without_root_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None if tool == "flex" else f"/bin/{tool}")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(LabError, match=r"missing build tools: flex(.|\n)*sudo apt-get install flex"):
        kernel.ensure_tools(lambda stage, part: None)


def test_a_registry_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    apt_get, asked = tmp_path / "apt-get", tmp_path / "asked"
    apt_get.write_text(f"#!/bin/sh\necho \"$*\" >>{asked}\necho 'E: Unable to locate package' >&2\nexit 100\n")
    apt_get.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(places, "cache", lambda: tmp_path)
    with pytest.raises(LabError, match=rf"could not download {kernel.SOURCE_PACKAGE}(.|\n)*Unable to locate package"):
        kernel.download(lambda stage, part: None)
    words = [line.split() for line in asked.read_text().splitlines()]
    assert ["download" in words[0], "update" in words[1], "download" in words[2]] == [True] * 3


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Path]:
    """The stream, and what a host build of the cores makes of it."""
    program = tmp_path / "replay_host"
    source = places.LAB / "tests" / "replay_host.c"
    subprocess.run(
        ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{places.CORES}", "-o", program, source], check=True
    )
    subprocess.run([program, tmp_path / "in", tmp_path / "out"], check=True)
    return tmp_path / "in", tmp_path / "out"


@pytest.fixture
def replay_module(built: Programs, tmp_path: Path) -> Path:
    """The test's kernel module, of the same headers."""
    directory = tmp_path / "module"
    directory.mkdir()
    shutil.copy(places.KERNEL_SOURCES / "replay.c", directory)
    (directory / "Kbuild").write_text(f"obj-m := replay.o\nccflags-y := -I{places.CORES}\n")
    build_step(["make", "-s", "-C", str(built.kernel.tree), "ARCH=um", f"M={directory}", "modules"], directory)
    return directory / "replay.ko"


def test_the_guests_kernel_comes_to_the_same_windows(
    built: Programs,
    recorded: tuple[Path, Path],
    replay_module: Path,
    bulk: Callable[..., Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream, answers = recorded
    usual = machine.prepare

    def with_replay(directory: Path, run: Run, programs: Programs) -> None:
        usual(directory, run, programs)
        shutil.copy(replay_module, directory / "replay.ko")
        shutil.copy(stream, directory / "replay.in")
        (directory / "modules").write_text("/run/lab/replay.ko\n")

    monkeypatch.setattr(machine, "prepare", with_replay)
    directory = tmp_path / "guest"
    directory.mkdir()
    machine.boot(directory, bulk("cubic", 1, 3.0), 60, "replay", "")
    guest = (directory / "out" / "replay.out").read_bytes()
    assert guest == answers.read_bytes()
    record = len(guest) // (20_000 * len(Parameters.read().rows))
    windows = {struct.unpack_from("I", guest, at + 12)[0] for at in range(0, len(guest), record)}
    assert len(windows) > 1000, "the stream moves the window about"
