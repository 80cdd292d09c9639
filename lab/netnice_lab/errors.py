# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a user is told when something cannot be done, and build tools, whose last words are the reason."""

import shutil
import subprocess
from pathlib import Path


class LabError(Exception):
    """A failure the user can act on: what happened, why, what to do."""

    def __init__(self, what: str, why: str = "", do: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.do = do

    def __str__(self) -> str:
        lines = [self.what]
        if self.why:
            lines.append(f"  because: {self.why}")
        if self.do:
            lines.append(f"  do this: {self.do}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[type["LabError"], tuple[str, str, str]]:
        return type(self), (self.what, self.why, self.do)


def run(command: list[str], where: Path, env: dict[str, str] | None = None) -> str:
    """Run a build step; its last lines become the reason if it fails."""
    if shutil.which(command[0]) is None:
        raise LabError(f"there is no {command[0]} on the PATH", "the lab's kernel is built with it", "install it")
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip().splitlines()[-12:]
        raise LabError(f"{command[0]} failed", "\n".join(output), "see the lines above")
    return done.stdout
