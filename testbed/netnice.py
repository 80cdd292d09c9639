# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice in the kernel of this machine: loaded for a while, tuned for a while, then as before."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Sequence

from testbed.errors import TestbedError
from testbed.programs import program

_NOT_UP = 3  # exit status of netnicectl status


@contextlib.contextmanager
def netnice_up(extra: Sequence[str] = ()) -> Iterator[None]:
    """Loads netnice, with ``extra`` algorithms of the laboratory; unloads what it loaded."""
    was_up = _netnicectl("status", check=False).returncode != _NOT_UP
    options = ["--with", ",".join(extra)] if extra else []
    _netnicectl("up", *options)
    try:
        yield
    finally:
        if not was_up:
            _netnicectl("down")
        elif extra:
            _netnicectl("up")


@contextlib.contextmanager
def parameters(algorithm: str, **values: int) -> Iterator[None]:
    """Sets parameters of a loaded algorithm while the context lasts."""
    before = json.loads(_netnicectl("show", "--json").stdout)[algorithm]
    try:
        _netnicectl("set", algorithm, *(f"{name}={value}" for name, value in values.items()))
        yield
    finally:
        _netnicectl("set", algorithm, *(f"{name}={before[name]}" for name in values))


def _netnicectl(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    argv = [program("netnicectl"), *words]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise TestbedError(f"'netnicectl {' '.join(words)}' failed: {done.stderr.strip()}")
    return done
