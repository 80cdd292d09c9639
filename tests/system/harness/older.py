# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Versions before: what one has left when the new one comes, made here, and the last such one, built from the history.

And uploads that still run when the new one comes.

Until 0.1.0 the policy was loaded once a cgroup, and had a pin of counters for each. At first the levels were called
nice, nice1 and nice2.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import pytest

from system.harness import bpf, kernel
from system.harness.commands import PROGRAMS, end, runs_on
from system.harness.kernel import LINKS, MAPS
from testbed import Namespace, ownership, program, sockets

#: The last whose levels were called nice, nice1 and nice2, and that moved processes to cgroups of its own.
COMMIT = "3925ccd"
_TOP = Path(__file__).resolve().parents[3]
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netnice" / "older"
#: Of an upload, and what reads slowly enough to be still at it when the new version comes.
SIZE, SINK = 20_000_000, end("sink", "4e6")
#: Bytes: what its receiver holds a window to, for any sender.
HELD = 20_000
_LOADED = kernel.PINS.with_name("netnice-test-older")
#: By the object's names: maps that its programs share, also between the levels.
_SHARED = {"moved": "moved", "connections": "receiver-connections", "received": "receiver-counters"}


def up(controls: Sequence[str]) -> None:
    """Everything of it, its levels on congestion controls of these names."""
    point = kernel.PINS.parent
    if not os.path.ismount(point):  # marked as its own, so that a down takes it away
        subprocess.run([program("mount"), "-t", "bpf", "netnice", point], check=True)
    for folder in (LINKS, MAPS):
        folder.mkdir(parents=True)
    for level, control in enumerate(controls):
        bpf.congestion_control(control, LINKS / f"sender-{control}")
        with _loaded(control):
            for direction, mark in itertools.product(("", "-send", "-receive"), ("", "-unmarked")):
                _attach(f"level{level}{mark}{direction}", direction)
    for name in ("params", "receiver-params"):
        _array(name, b"\0" * 64)
    state = {"version": "0.0.1", "build_id": "0" * 64, "since": 1, "algorithms": [*controls], "mark": True}
    _array("state", json.dumps(state).encode().ljust(1024, b"\0"))


def group(name: str) -> Path:
    """A cgroup of it."""
    return kernel.cgroup_root() / "netnice" / name


def inside(name: str, *argv: str | Path) -> list[str]:
    """What runs a program in a cgroup, as its netnice did."""
    join = 'echo $$ >"$0" && exec "$@"'
    return [program("sh"), "-c", join, str(group(name) / "cgroup.procs"), *map(str, argv)]


@contextlib.contextmanager
def _loaded(control: str) -> Iterator[None]:
    """The programs of a level, until they are attached."""
    folder = ownership.scratch("older")
    obj = folder / "older.o"
    define = [f'-DCONTROL="{control}"', f"-DHELD={HELD}", f"-I/usr/include/{os.uname().machine}-linux-gnu"]
    # What `make` compiles the project's own with.
    compiler = [program(os.environ.get("CLANG", "clang-16")), "-target", "bpf", "-O2", "-g", "-Wall", "-Werror"]
    subprocess.run([*compiler, *define, "-c", PROGRAMS / "older.bpf.c", "-o", obj], check=True)
    kept = [(ours, MAPS / pin) for ours, pin in _SHARED.items()]
    there = [word for ours, pin in kept if pin.exists() for word in ("map", "name", ours, "pinned", str(pin))]
    try:
        subprocess.run([program("bpftool"), "prog", "loadall", obj, _LOADED, *there, "pinmaps", _LOADED], check=True)
        for ours, pin in kept:
            if not pin.exists():
                (_LOADED / ours).rename(pin)
        yield
    finally:
        shutil.rmtree(_LOADED, ignore_errors=True)


def _attach(name: str, direction: str) -> None:
    group(name).mkdir(parents=True)
    if direction != "-receive":
        bpf.link(_LOADED / "policy", group(name), bpf.SOCK_OPS, LINKS / f"policy-{name}")
        _array(f"counters-{name}", b"\0" * 48)
    if direction != "-send":
        bpf.link(_LOADED / "connection", group(name), bpf.SOCK_OPS, LINKS / f"receiver-connection-{name}")
        bpf.link(_LOADED / "arrival", group(name), bpf.INGRESS, LINKS / f"receiver-arrival-{name}")


def _array(name: str, value: bytes) -> None:
    """A pinned map of one value."""
    tool, pin = program("bpftool"), MAPS / name
    shape = ["key", "4", "value", str(len(value)), "entries", "1", "name", "older"]
    subprocess.run([tool, "map", "create", pin, "type", "array", *shape], check=True)
    words = ["key", "hex", "00", "00", "00", "00", "value", "hex", *value.hex(" ").split()]
    subprocess.run([tool, "map", "update", "pinned", pin, *words], check=True)


def built() -> dict[str, Path]:
    """The programs of COMMIT, built once and kept in the cache. Where the clone has no history there is none."""
    names, home = ("netnice", "netnicectl"), _CACHE / COMMIT
    if not all((home / name).exists() for name in names):
        archive = subprocess.run([program("git"), "archive", COMMIT], cwd=_TOP, capture_output=True, check=False)
        if archive.returncode != 0:
            pytest.skip(f"the history of this clone does not reach to {COMMIT}")
        tree = ownership.scratch("older-tree")
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
            files.extractall(tree, filter="data")
        fetched = subprocess.run(["cargo", "fetch", "--locked"], cwd=tree, capture_output=True, check=False)
        if fetched.returncode != 0:
            pytest.skip(f"the crates of {COMMIT} cannot be had: {fetched.stderr.decode()}")
        made = tree / "target"
        words = ["build", "--release", "--locked", *(word for name in names for word in ("-p", name))]
        subprocess.run(["cargo", *words], cwd=tree, env=os.environ | {"CARGO_TARGET_DIR": str(made)}, check=True)
        home.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(made / "release" / name, home / f"{name}.new")
            (home / f"{name}.new").rename(home / name)
    return {name: home / name for name in names}


def running_on(namespace: Namespace, ports: list[int]) -> list[str]:
    """The congestion controls of the connections to the ports, one each."""
    return [one for port in ports for one in runs_on(namespace, peer=port)]


def received(namespace: Namespace, port: int) -> int:
    """Bytes that have arrived there."""
    return sum(one.bytes_received for one in sockets(namespace, local_port=port))
