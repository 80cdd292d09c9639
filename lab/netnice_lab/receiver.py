# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The receiver side in a guest: the shipped eBPF object, loaded by the shipped loader, run by the interpreter."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from netnice_lab import kernel, places
from netnice_lab.errors import LabError

PINS = "/sys/fs/bpf/receiver"
CGROUP = "background"
PROGRAM = "/run/lab/receiver"
OBJECTS = "transport/receiver"
LOADER = ("crates/receiver", "crates/build", "crates/loader/src/receiver")
COMPILING = "crates/loader/build.rs"


@dataclass(frozen=True)
class Receiver:
    """Which algorithm the background connections run, from when to when (seconds; stop 0: to the end)."""

    algorithm: str
    values: tuple[tuple[str, int], ...] = ()
    start: float = 0.0
    stop: float = 0.0

    def setup(self) -> str:
        """Shell commands that make the cgroup and attach the receiver to it."""
        if self.algorithm == "none":
            return ""
        pairs = " ".join(f"{name}={value}" for name, value in self.values)
        lines = [f"mkdir /sys/fs/cgroup/{CGROUP}", f"{PROGRAM} attach /sys/fs/cgroup/{CGROUP} {PINS}"]
        if pairs:
            lines.append(f"{PROGRAM} set {PINS} {self.algorithm} {pairs}")
        lines.append(f"{PROGRAM} choose {PINS} {'off' if self.start else self.algorithm}")
        return "\n".join(lines) + "\n"

    def plan(self) -> list[str]:
        """Plan lines that start and stop it on live connections, and sample it."""
        lines = ["receiver"]
        if self.algorithm == "none":
            return lines
        for at, name in ((self.start, self.algorithm), (self.stop, "off")):
            if at:
                lines.append(f"change {at * 1e6:.0f} {PROGRAM} choose {PINS} {name}")
        return lines


@dataclass(frozen=True)
class Program:
    """The loader with the object inside, and a name for its content."""

    key: str
    path: Path


def sources() -> list[Path]:
    """Every file that can change the program: the loader's, the objects', and what the compiler says they include."""
    objects = [str(f.relative_to(places.CLONE)) for f in (places.CLONE / OBJECTS).glob("*.bpf.c")]
    included = kernel.run(["gcc", "-MM", "-MG", *objects], places.CLONE).replace("\\\n", " ").split()
    files = {(places.CLONE / word).resolve() for word in included if not word.endswith(":")}
    files |= {f for folder in LOADER for f in (places.CLONE / folder).rglob("*.[cr]*")}
    files.add(places.CLONE / COMPILING)
    return [f for f in files if f.is_file() and "tests" not in f.parts]


def build() -> Program:
    """Build netnice-receiver unless cached."""
    key = places.digest_tree([*sources(), places.CLONE / "Cargo.lock"])
    home = places.cache() / "receivers" / key
    program = home / "netnice-receiver"
    if not program.exists():
        compile_into(home)
    # results belong to the program, not to the wording of its sources
    return Program(places.digest(program.read_bytes()), program)


def compile_into(home: Path) -> None:
    """Compile it with cargo; two builds at a time do not disturb each other."""
    if shutil.which("cargo") is None:
        raise LabError("no Rust", "cargo is not installed", "./setup --yes test")
    target = Path(os.environ.get("CARGO_TARGET_DIR") or places.cache().parent / "target")
    kernel.run(
        ["cargo", "build", "--locked", "--release", "-p", "netnice-receiver"],
        places.CLONE,
        {**os.environ, "CARGO_TARGET_DIR": str(target)},
    )
    home.mkdir(parents=True, exist_ok=True)
    aside = home / f"part-{os.getpid()}"
    shutil.copy(target / "release" / "netnice-receiver", aside)
    aside.rename(home / "netnice-receiver")
