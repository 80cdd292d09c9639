# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The name of a run's result: a hash of the sources that decide it, not of what a compiler makes of them.

A result depends on the kernel (configuration and patches), the guest's programs, the plan and the seed. If a core of
ours sends, it depends on that core, what it includes and its row of the table. The same holds for a receiver of ours.
Comments, the layout of lines and the names of files are not part of the key: they change no result.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from netnice_lab import places
from netnice_lab.engine import changes, kernel
from netnice_lab.model.scenario import Run

COMMENT = re.compile(r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.DOTALL)
INCLUDE = re.compile(r'#\s*include\s+"([^"]+)"')
ROW = re.compile(r"X\((\w+), (\w+), (?:true|false), ")
SENDER = ("sender/module/netnice.c",)
RECEIVER = ("receiver/receiver.bpf.c",)
READER = "receiver.c"
SITE = ("apps/prefetch", "apps/prefetch-predictor", "apps/prefetch-replay")


def plain(text: str) -> str:
    """C without comments and with single spaces; a directive keeps its line."""
    joined = COMMENT.sub(lambda found: found[1] or " ", text).replace("\\\n", " ")
    lines = [" ".join(line.split()) for line in joined.splitlines()]
    return "".join(f"\n{line}\n" if line.startswith("#") else f"{line} " for line in lines if line)


class Source:
    """Files with what they include, each once. Of an algorithms' table only the rows in `used` count."""

    def __init__(self, used: Iterable[str] = (), below: Iterable[Path] = ()) -> None:
        self.used, self.below, self.seen = set(used), tuple(below) or (places.CORES, places.SHIMS), set[Path]()

    def text(self, files: Iterable[Path]) -> str:
        """All of it, in the order in which a compiler reads it."""
        return " ".join(" ".join(part for file in files for part in self.read(file.resolve())).split())

    def read(self, file: Path) -> Iterator[str]:
        """One file's parts."""
        if file in self.seen:
            return
        self.seen.add(file)
        content = file.read_text()
        cores = set()
        if file.name == "table.h":
            kept = [line for line in content.splitlines() if not (row := ROW.search(line)) or row[1] in self.used]
            cores = {row[2] for line in content.splitlines() if (row := ROW.search(line))}
            cores -= {row[2] for line in kept if (row := ROW.search(line))}
            content = "\n".join(kept)
        for line in plain(content).splitlines():
            found = INCLUDE.match(line)
            target = self.find(file, found[1]) if found else None
            if target is None:
                yield line
            elif target.stem not in cores:
                yield from self.read(target)

    def find(self, file: Path, name: str) -> Path | None:
        """The file of the tree that an #include means; None: a system's header, or not to be followed."""
        for folder in (file.parent, places.CORES):
            target = (folder / name).resolve()
            if target.is_file() and any(target.is_relative_to(top) for top in self.below):
                return target
        return None


@cache
def sender(cores: tuple[str, ...], changed: tuple[str, ...]) -> str:
    """The cores that a run sends by, with their shim; `changed`: names of changes.py."""
    made = [repr(changes.find(name)) for name in changed]
    return places.digest(Source(cores).text(places.SHIMS / file for file in SENDER), *made)


@cache
def receiver(algorithms: tuple[str, ...], changed: tuple[str, ...] = ()) -> str:
    """The receivers that a run has, with their shim and what the guest reads of their state."""
    files = [*(places.SHIMS / file for file in RECEIVER), places.GUEST_SOURCES / READER]
    made = [repr(changes.find(name)) for name in changed]
    return places.digest(Source(algorithms).text(files), *made)


@cache
def guest() -> str:
    """Process 1 and the traffic; what reads the receiver's state counts with the receiver."""
    files = sorted(file for file in places.GUEST_SOURCES.glob("*.c") if file.name != READER)
    return places.digest(Source(below=(places.GUEST_SOURCES,)).text(files))


@cache
def site() -> str:
    """The prefetching proxy and what visits it."""
    files = places.sources(*(places.CLONE / folder for folder in SITE))
    texts = (f.read_text() for f in files if f.suffix == ".rs" and "tests" not in f.parts)
    lines = (line.strip() for text in texts for line in text.splitlines())
    return places.digest("\n".join(line for line in lines if line and not line.startswith("//")))


def of(run: Run) -> str:
    """The name of a run's result."""
    of_sender, of_receiver = changes.halves(run.mutants)
    return places.digest(
        kernel.key(),
        guest(),
        *kernel.options(run.seed),
        sender(run.cores, of_sender) if run.cores else "",
        receiver(run.receivers, of_receiver) if run.receivers else "",
        site() if run.reports else "",
        run.setup,
        run.plan,
        repr(sorted((name, sorted(values.items())) for name, values in run.parameters.items())),
    )
