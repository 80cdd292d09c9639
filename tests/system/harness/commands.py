# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The commands under test, and what they run beside the programs of this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed import Namespace, Process, program

PROGRAMS = Path(__file__).parents[1] / "programs"
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def call(name: str, *words: str, check: bool = True, **options: Any) -> Done:
    """Runs a program of the project to its end."""
    argv = [program(name), *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, **options)
    assert not check or done.returncode == 0, f"{argv} ended with {done.returncode}: {done.stderr}"
    return done


@dataclass(frozen=True)
class Pair:
    """Two namespaces on one cable, with IPv4 and IPv6."""

    a: Namespace
    b: Namespace
    a4: str
    b4: str
    a6: str
    b6: str

    def hold(self, where: Namespace, *words: str, nice: bool = False) -> Process:
        """Starts programs/hold.py."""
        first = ["netnice"] if nice else []
        return where.spawn(*first, sys.executable, PROGRAMS / "hold.py", *words, stdout=subprocess.PIPE)
