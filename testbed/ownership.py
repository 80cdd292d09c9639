# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The owner of a namespace or a scratch folder, and what to remove when the owner is gone.

A name is ``nn-<pid>-<start time>-<label>``: the start time tells a live owner from a stranger that
was given the same pid later.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Self

_NAME = re.compile(r"^nn-(\d+)-(\d+)-[a-z0-9]+$")
_NAMESPACES = Path("/run/netns")

#: Closed at exit, whatever happened: the safety net below the context managers.
_at_exit = contextlib.ExitStack()
_ready = False


def owned_name(label: str) -> str:
    """A name for something of this process; ``label`` is lower case letters and digits."""
    pid = os.getpid()
    name = f"nn-{pid}-{_start_time(pid)}-{label}"
    if not _NAME.match(name):
        raise ValueError(f"label {label!r}: use lower case letters and digits only")
    return name


def prepare() -> None:
    """Sweep leftovers and see to it that this process leaves none; does its work once."""
    global _ready
    if _ready:
        return
    _ready = True
    sweep()
    atexit.register(_at_exit.close)
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _exit_on_signal)


class Owned:
    """Something made of parts that are put away, last made first, when its context or this process ends."""

    def __init__(self) -> None:
        self._parts = contextlib.ExitStack()
        _at_exit.callback(self._parts.close)  # closing it twice does nothing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._parts.close()

    @contextlib.contextmanager
    def _making(self) -> Iterator[None]:
        """A part that cannot be made puts away those before it."""
        try:
            yield
        except BaseException:
            self._parts.close()
            raise


def scratch(label: str) -> Path:
    """A new folder of this process, below the system's temporary folder."""
    prepare()
    parent = Path(tempfile.gettempdir()) / owned_name("scratch")
    parent.mkdir(mode=0o755, exist_ok=True)
    _at_exit.callback(shutil.rmtree, parent, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{label}-", dir=parent))


def sweep() -> list[str]:
    """Removes namespaces and folders whose owner is dead; returns their names."""
    removed = []
    if _NAMESPACES.is_dir():
        for entry in sorted(_NAMESPACES.iterdir()):
            if _is_orphan(entry.name):
                remove_namespace(entry.name)
                removed.append(entry.name)
    for folder in Path(tempfile.gettempdir()).glob("nn-*"):
        if folder.is_dir() and _is_orphan(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder.name)
    return removed


def remove_namespace(name: str) -> None:
    """Ends what still runs in the namespace, then removes it."""
    if not (_NAMESPACES / name).exists():
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        pids = _pids_in(name)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
                os.kill(pid, number)
        deadline = time.monotonic() + 2.0
        while pids and time.monotonic() < deadline:
            time.sleep(0.02)
            pids = _pids_in(name)
        if not pids:
            break
    subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def _pids_in(name: str) -> list[int]:
    listed = subprocess.run(["ip", "netns", "pids", name], check=False, capture_output=True, text=True)
    return [int(word) for word in listed.stdout.split()]


def _is_orphan(name: str) -> bool:
    match = _NAME.match(name)
    if not match:
        return False
    pid, started = int(match[1]), int(match[2])
    return _start_time(pid) != started


def _start_time(pid: int) -> int:
    """The process's start in clock ticks since boot; 0 when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[19])


def _exit_on_signal(number: int, _frame: FrameType | None) -> None:
    # SystemExit unwinds every `with`, so each thing is put away by its maker.
    raise SystemExit(128 + number)
