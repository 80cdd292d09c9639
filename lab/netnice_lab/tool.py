# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A build tool, run: its last lines become the reason if it fails."""

import shutil
import subprocess
from pathlib import Path

from netnice_lab.errors import LabError


def run(command: list[str], where: Path, env: dict[str, str] | None = None) -> str:
    """Run a build step; its last lines become the reason if it fails."""
    if shutil.which(command[0]) is None:
        raise LabError(f"there is no {command[0]} on the PATH", "the lab's kernel is built with it", "install it")
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip().splitlines()[-12:]
        raise LabError(f"{command[0]} failed", "\n".join(output), "see the lines above")
    return done.stdout
