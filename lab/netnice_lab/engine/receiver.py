# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The receiver side in a guest: the shipped eBPF object, loaded by the shipped loader, run by the interpreter."""

from dataclasses import dataclass
from pathlib import Path

from netnice_lab import places, tool
from netnice_lab.engine import cargo

OBJECTS = "transport/receiver"
LOADER = ("crates/receiver", "crates/build", "crates/loader/src/receiver")
OPENING = "crates/loader/src/object.rs"
COMPILING = "crates/loader/build.rs"


@dataclass(frozen=True)
class Program:
    """The loader with the object inside, and a name for its content."""

    key: str
    path: Path


def sources() -> list[Path]:
    """Every file that can change the program: the loader's, the objects', and what the compiler says they include."""
    objects = [str(f.relative_to(places.CLONE)) for f in (places.CLONE / OBJECTS).glob("*.bpf.c")]
    included = tool.run(["gcc", "-MM", "-MG", *objects], places.CLONE).replace("\\\n", " ").split()
    files = {(places.CLONE / word).resolve() for word in included if not word.endswith(":")}
    files |= {f for folder in LOADER for f in (places.CLONE / folder).rglob("*.[cr]*")}
    files |= {places.CLONE / OPENING, places.CLONE / COMPILING}
    return [f for f in files if f.is_file() and "tests" not in f.parts]


def build() -> Program:
    """Build netnice-receiver unless cached."""
    key = places.digest_tree([*sources(), places.CLONE / "Cargo.lock"])
    home = places.cache() / "receivers" / key
    program = home / "netnice-receiver"
    if not program.exists():
        cargo.compile_into(home, ["netnice-receiver"])
    # results belong to the program, not to the wording of its sources
    return Program(places.digest(program.read_bytes()), program)
