# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One recorded stream gives the same windows in a host build and in the guest's kernel, byte for byte.

The eBPF object's replay of the cores is compared with the host build by the tests of crates/cores.
"""

import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from netnice_lab import places
from netnice_lab.engine import machine
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import run as build_step
from netnice_lab.model.parameters import Parameters
from netnice_lab.model.scenario import Run


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
