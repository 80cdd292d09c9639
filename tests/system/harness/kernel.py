# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What netnice has put into the kernel, seen from outside; and cgroups as a service manager makes them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from testbed import program
from testbed.namespace import wait_until

PINS = Path("/sys/fs/bpf/netnice")
LINKS, MAPS = PINS / "links", PINS / "maps"
NAMES = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_JOIN = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


def cgroup_root() -> Path:
    """Where cgroup v2 is mounted."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        if right.startswith("cgroup2 "):
            return Path(left.split()[4])
    raise AssertionError("no cgroup v2 on this machine")


def registered() -> list[str]:
    """Names that setsockopt(TCP_CONGESTION) takes."""
    return NAMES.read_text().split()


def bpftool(*words: str | Path) -> Any:
    """What it prints, as JSON; nothing is an empty list."""
    done = subprocess.run([program("bpftool"), "-j", *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip() or "[]")


def programs() -> dict[int, str]:
    """The loaded eBPF programs that are netnice's, by id."""
    names = {int(entry["id"]): str(entry.get("name", "")) for entry in bpftool("prog", "show")}
    ours = ("netnice_", "netnice1_", "netnice2_", "nice_", "nnvegas_", "nnreno_", "quic_")
    return {number: name for number, name in names.items() if name == "policy" or name.startswith(ours)}


def remains(before: dict[int, str]) -> list[str]:
    """Everything of netnice that is in the kernel, but for the programs that were there ``before``.

    A connection keeps the programs it runs on until it ends, also another user's, and long after a down.
    """
    found = [str(path) for path in (PINS, cgroup_root() / "netnice") if path.exists()]
    found += [name for name in registered() if name in ("netnice", "netnice1", "netnice2", "nice", "nnvegas", "nnreno")]
    return found + [f"{name} ({number})" for number, name in programs().items() if number not in before]


def assert_nothing_remains(before: dict[int, str], seconds: float = 20) -> None:
    """The kernel frees programs a little after their last user has gone."""
    deadline = time.monotonic() + seconds
    while (found := remains(before)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not found, found


def pins() -> tuple[set[str], set[str]]:
    """The names of pinned links, and of maps, of any version."""
    links, maps = ({pin.name for pin in folder.iterdir()} for folder in (LINKS, MAPS))
    return links, maps


def rewrite_state(**values: Any) -> None:
    """Puts other values into what netnice has written of itself, as another version would have left it."""
    pin = MAPS / "state"
    value = bytes(int(byte, 16) for byte in bpftool("map", "dump", "pinned", pin)[0]["value"])
    state = {**json.loads(value.rstrip(b"\0")), **values}
    new = json.dumps(state, separators=(",", ":")).encode().ljust(len(value), b"\0").hex(" ").split()
    key = ["key", "hex", "00", "00", "00", "00"]
    subprocess.run([program("bpftool"), "map", "update", "pinned", str(pin), *key, "value", "hex", *new], check=True)


@contextlib.contextmanager
def cgroup(*below: str) -> Iterator[Path]:
    """A slice of this test's with these below each other in it, gone afterwards with what is below the last."""
    top = cgroup_root() / f"netnice-test-{os.getpid()}.slice"
    folder = top.joinpath(*below)
    folder.mkdir(parents=True)
    try:
        yield folder
    except BaseException:
        (top / "cgroup.kill").write_text("1")  # a test that failed leaves nothing to the next
        raise
    finally:
        for left in [*sorted(top.rglob("*/"), reverse=True), top]:
            if left.is_dir():
                _await_empty(left)
                left.rmdir()


def inside(cgroup: Path, *argv: str) -> list[str]:
    """The words that run a program in a cgroup."""
    return [program("sh"), "-c", _JOIN, str(cgroup), *argv]


def _await_empty(cgroup: Path) -> None:
    """Of processes that are ending, too, which cgroup.procs no longer shows."""
    wait_until(lambda: "populated 0" in (cgroup / "cgroup.events").read_text(), f"{cgroup} to be empty")
