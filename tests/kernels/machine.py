# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A virtual machine with one of Debian's kernels and nothing but netnice: what happened when it was used there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernels.archive import release
from testbed import program

GUEST, STEPS = (Path(__file__).with_name(name) for name in ("guest.sh", "steps.sh"))
#: What the verifier had to look at, by kernel.
VERIFIER = Path(__file__).parent.with_name("verifier")
#: The first release that allocates what programs keep of sockets by cmpxchg16b, and not at all without.
NEEDS_CX16 = (7, 0)
#: Several times what it takes; without hardware's help a processor is some twenty times slower.
SECONDS = 300


@dataclass
class Step:
    """Of the guest's script: how it ended, and what it said."""

    status: int
    said: str

    def json(self) -> Any:
        """The first value in it: the shell may say after it which job it ended."""
        return json.JSONDecoder().raw_decode(self.said)[0]


@dataclass
class Report:
    """Steps by name, in their order."""

    steps: dict[str, Step] = field(default_factory=dict)
    console: str = ""

    @classmethod
    def read(cls, console: str) -> Report:
        report, said = cls(console=console), ""
        for line in console.splitlines():
            if match := re.match(r"@> ?(.*)", line):
                said += match[1] + "\n"
            elif match := re.match(r"@@ (\w+) (\d+)", line):
                report.steps[match[1]] = Step(int(match[2]), said)
                said = ""
        return report


def initramfs(
    kernel: Path,
    room: Path,
    algorithms: list[str],
    binaries: list[Path],
    *,
    guest: Path = GUEST,
    beside: Sequence[Path] = (),
) -> Path:
    """The guest's files: busybox, the programs and what they link, the kernel's modules, and those ``beside``."""
    root = room / "root"
    (root / "bin").mkdir(parents=True)
    for binary in binaries:
        shutil.copy(binary, root / "bin")
        for library in re.findall(r"(?:=> )?(/\S+) \(", _output("ldd", binary)):
            to = root / library.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, to)
    shutil.copy(program("busybox"), root / "bin" / "busybox")
    for applet in _output(program("busybox"), "--list").split():
        if not (root / "bin" / applet).exists():
            (root / "bin" / applet).symlink_to("busybox")
    (root / "modules").mkdir()
    for module in kernel.glob("*.ko"):
        shutil.copy(module, root / "modules")
    (root / "etc").mkdir()
    (root / "etc" / "passwd").write_text("root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/:/bin/sh\n")
    (root / "etc" / "group").write_text("root:x:0:\nuser:x:1000:\n")
    (root / "with").write_text(",".join(algorithms))
    shutil.copytree(VERIFIER, root / "verifier")
    for file in (STEPS, *beside):
        shutil.copy(file, root)
    shutil.copy(guest, root / "init")
    (root / "init").chmod(0o755)
    return packed(root, room / "initramfs", owner="0:0")


def packed(root: Path, to: Path, *without: str, owner: str = "") -> Path:
    """A folder as the kernel unpacks it, with nothing in the folders ``without``; all of it ``owner``'s."""
    prunes = [word for name in without for word in ("-path", f"./{name}/*", "-prune", "-o")]
    names = subprocess.run(["find", ".", "-xdev", *prunes, "-print"], cwd=root, check=True, capture_output=True).stdout
    with to.open("wb") as out:
        words = [program("cpio"), "--quiet", "-o", "-H", "newc", *(["-R", owner] if owner else [])]
        subprocess.run(words, cwd=root, input=names, stdout=out, check=True)
    return to


def processor(kernel: Path) -> str:
    """QEMU 7.2 gets cmpxchg16b wrong now and then: flags come back with a pointer's bits in them. The allocator of an
    older Linux uses it, and crashes. Without the instruction it takes another way.
    """
    return "max" if release(kernel.name) >= NEEDS_CX16 else "max,-cx16"


def run(
    kernel: Path,
    archive: Path,
    *,
    pin: bool = False,
    steady: bool = False,
    seconds: int = SECONDS,
    megabytes: int = 768,
) -> Report:
    """Boots it and waits for its end. ``pin``: the verifier's numbers are taken anew. ``steady``: its time goes by its
    instructions, however busy this host is, and its sleep takes no time.
    """
    command_line = f"console=ttyS0 panic=-1 quiet mitigations=off{' NETNICE_PIN=1' * pin}"
    words = ["-accel", "tcg", "-cpu", processor(kernel), "-m", str(megabytes), "-smp", "1"]
    words += ["-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"]
    words += ["-kernel", str(kernel / "vmlinuz"), "-initrd", str(archive), "-append", command_line]
    if steady:
        words += ["-icount", "shift=1,sleep=off"]  # two nanoseconds each
    try:
        done = subprocess.run(
            [program("qemu-system-x86_64"), *words],
            capture_output=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        console = done.stdout
    except subprocess.TimeoutExpired as late:
        console = late.stdout or b""
    return Report.read(console.decode(errors="replace").replace("\r", ""))


def _output(*argv: str | Path) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout
