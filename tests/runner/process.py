# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs one part's command, shows its output as it comes, and ends whatever it leaves behind."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# After its own end a part's pipe must close at once; a child that holds it open was left behind.
GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Outcome:
    """The lines that were printed, and how it ended; an empty ``ending`` is exit status 0."""

    lines: list[str]
    ending: str


def as_root(command: list[str]) -> list[str]:
    """The command as root runs it: unchanged for root, by sudo for anyone else."""
    if os.geteuid() == 0:
        return command
    kept = [
        f"{k}={os.environ[k]}"
        for k in ("PATH", "HOME", "XDG_CACHE_HOME", "CARGO_TARGET_DIR", "PYTHON", "PYTHONDONTWRITEBYTECODE", "CI")
        if k in os.environ
    ]
    return ["sudo", "-n", "env", *kept, *command]


def may_be_root() -> bool:
    """Whether :func:`as_root` will work; lets sudo ask for its password once, in the foreground."""
    if os.geteuid() == 0:
        return True
    return shutil.which("sudo") is not None and subprocess.run(["sudo", "-v"], check=False).returncode == 0


def end_group(group: int) -> str:
    """Kills every process of the group; says which there were, or nothing."""
    members = subprocess.run(["pgrep", "-a", "-g", str(group)], check=False, capture_output=True, text=True).stdout
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return ""
    except PermissionError:
        subprocess.run(["sudo", "-n", "kill", "-KILL", "--", f"-{group}"], check=False)
    return "; ".join(members.splitlines()) or "gone by now"


def await_group(group: int) -> None:
    """Gives processes on their way out (a killed one may still be a zombie) some seconds to be gone."""
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        except PermissionError:
            pass
        time.sleep(0.02)


def describe(code: int) -> str:
    """An exit status in words."""
    if code == 0:
        return ""
    return f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit status {code}"


def execute(command: list[str], seconds: float, cwd: Path, out: IO[str] = sys.stdout) -> Outcome:
    """Runs ``command`` in ``cwd`` for at most ``seconds``, copying its output to ``out`` line by line."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "CARGO_TERM_COLOR": "never"}
    try:
        process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, process_group=0, text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        return Outcome([], f"it could not be started: {error}")
    lines: list[str] = []

    def copy() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            out.write(line)
            out.flush()

    reader = threading.Thread(target=copy, daemon=True)
    reader.start()
    try:
        ending = describe(process.wait(seconds))
    except subprocess.TimeoutExpired:
        ending = f"it did not end within {seconds / 60:g} minutes"
    except BaseException:
        end_group(process.pid)
        raise
    if ending.startswith("it did not end"):
        end_group(process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
    reader.join(GRACE_SECONDS)
    await_group(process.pid)
    stayed = end_group(process.pid)
    if stayed and not ending:
        ending = f"it left processes behind: {stayed}"
    reader.join(GRACE_SECONDS)
    return Outcome(list(lines), ending)
