# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One guest, from its files to its output: start, watch by the wall clock, collect, leave nothing behind."""

import contextlib
import ctypes
import fcntl
import json
import lzma
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from netnice_lab import places
from netnice_lab.engine import changes, kernel, keys, programs
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.model.output import Output
from netnice_lab.model.parameters import Parameters
from netnice_lab.model.scenario import Run

OUTPUTS = ("flows.csv", "documents.csv", "udp.csv", "samples.csv")
WALL_LIMIT = 300.0
"""Seconds of real time after which a guest counts as hung."""
ATTEMPTS = 3
"""How often a guest is started whose kernel dies."""
UNLOCKED = 60.0
"""Seconds in which a folder may be new and not locked yet."""


def shared_memory() -> str:
    """Where a guest's memory lives: not on a disk if that can be helped."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


def stored(key: str) -> Path:
    """Where the result of a run is kept."""
    return places.cache() / "results" / key[:2] / f"{key}.json.xz"


def load(key: str) -> Output | None:
    """The kept result of a run; a damaged one counts as absent."""
    try:
        content = json.loads(lzma.decompress(stored(key).read_bytes()))
        return Output(content["files"], content["seconds"], content["cpu"], key)
    except (OSError, lzma.LZMAError, ValueError, KeyError):
        return None


def save(output: Output) -> None:
    """Keep a result: written aside and renamed, so that no interruption or other thread leaves half of it."""
    path = stored(output.key)
    content = json.dumps({"files": output.files, "seconds": output.seconds, "cpu": output.cpu}).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}-{threading.get_native_id()}")
        aside.write_bytes(lzma.compress(content, preset=0))
        aside.rename(path)
    except OSError as error:
        raise LabError(
            "cannot keep a result",
            str(error),
            f"free space under {places.cache()}; results so far are kept and will not be run again",
        ) from error


def execute(
    run: Run,
    fresh: bool = False,
    limit: float = WALL_LIMIT,
    name: str = "run",
) -> Output:
    """The result of a run: the kept one, or a new one."""
    key = keys.of(run)
    if not fresh and (kept := load(key)) is not None:
        return kept
    output = boot_until_it_lives(run, limit, name, key)
    save(output)
    return output


def boot_until_it_lives(run: Run, limit: float, name: str, key: str) -> Output:
    """Boot again if the guest's kernel dies, a few times; the output tells of it."""
    deaths: list[str] = []
    while True:
        with folder() as directory:
            try:
                output = boot(directory, run, limit, name, key)
                return replace(output, deaths=tuple(deaths))
            except GuestCrashError as error:
                deaths.append(error.why)
                if len(deaths) == ATTEMPTS:
                    raise


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A guest's own. It is locked while its process lives; those of killed ones go first."""
    for left in Path(shared_memory()).glob("netnice-lab-*"):
        with contextlib.suppress(OSError):
            found = left.lstat()
            if found.st_uid == os.geteuid() and time.time() - found.st_mtime > UNLOCKED:
                with locked(left):
                    shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix="netnice-lab-", dir=shared_memory()) as name, locked(Path(name)):
        _folders.add(name)
        try:
            yield Path(name)
        finally:
            _folders.discard(name)


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """A lock that ends with this process, however it ends; OSError if another has it."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def prepare(directory: Path, run: Run, found: Programs) -> None:
    """Write the files a guest finds in its /run/lab."""
    parameters = Parameters.read()
    rows = [parameters.setting(name, values) for name, values in sorted(run.parameters.items()) if values]
    (directory / "out").mkdir()
    (directory / "setup.sh").write_text(run.setup)
    (directory / "plan").write_text(run.plan)
    if run.cores:
        (directory / "modules").write_text(f"/run/lab/module.ko {' '.join(rows)}".rstrip() + "\n")
        shutil.copyfile(found.module, directory / "module.ko")
    shutil.copy(found.traffic, directory / "traffic")
    if run.receivers:
        shutil.copy(programs.receiver(changes.halves(run.mutants)[1]), directory / "receiver")
    if run.reports:
        for name in programs.SITE:
            shutil.copy(programs.project(name), directory / name)


def die_with_parent() -> None:
    """The guest ends when this process does, however it ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


_running: list[subprocess.Popen[bytes]] = []
_folders: set[str] = set()


def end_with_guests(*_: object) -> None:
    """End this process, its guests and their folders: a guest killed alone may leave a process that it was tracing."""
    for process in _running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process.pid, 0)  # not wait(): what this signal interrupts may hold its lock
    for directory in _folders:
        shutil.rmtree(directory, ignore_errors=True)
    os._exit(128 + signal.SIGTERM)


def boot(directory: Path, run: Run, limit: float, name: str, key: str) -> Output:
    """Run the guest to its end."""
    found = Programs.find(changes.halves(run.mutants)[0] if run.cores else ())
    prepare(directory, run, found)
    command = [
        "setarch",
        "-R",  # address randomisation would leak into the guest's hashes
        str(found.kernel.program),
        f"init={found.init}",
        f"LABDIR={directory}",
        f"uml_dir={directory}/",
        *kernel.options(run.seed),
    ]
    began, used = time.monotonic(), cpu_of_children()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"TMPDIR": str(directory), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"},
        start_new_session=True,
        preexec_fn=die_with_parent,
    )
    _running.append(process)
    try:
        console, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired as error:
        raise LabError(
            f"{name}: the guest hung and was killed",
            f"no end after {limit:.0f} s of real time",
            "run it again; if it hangs again, shorten the scenario or raise --wall-limit",
        ) from error
    finally:
        kill(process)
        _running.remove(process)
    files = collect(directory, run.reports, console.decode(errors="replace"), name)
    return Output(files, time.monotonic() - began, cpu_of_children() - used, key)


def cpu_of_children() -> float:
    """CPU seconds of every child that has ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def kill(process: subprocess.Popen[bytes]) -> None:
    """End the guest and the processes it keeps for its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


class GuestCrashError(LabError):
    """The guest's kernel died: under memory or process pressure the host can do that to it."""


def has_content(file: Path) -> bool:
    """Was it written?"""
    return file.exists() and file.stat().st_size > 0


def collect(directory: Path, reports: Sequence[str], console: str, name: str) -> dict[str, str]:
    """Read what the guest wrote; anything but a clean end is an error that shows its last words."""
    absent = [file for file in reports if not has_content(directory / "out" / file)]
    if absent or "lab: traffic ended with 0" not in console:
        last = [line for line in console.splitlines() if line.strip()][-8:]
        kind = LabError if "lab: " in console else GuestCrashError
        raise kind(f"{name}: the guest failed", "\n    ".join(last) or "it said nothing", "see its words above")
    return {file: (directory / "out" / file).read_text() for file in (*OUTPUTS, *reports)}
