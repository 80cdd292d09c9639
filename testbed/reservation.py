# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One session at a time has the machine's netnice: it holds a lock that says whose it is.

netnicectl waits while another holds it; what the session starts is told by the environment that it may go on.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from testbed.programs import require_root

#: In a folder of root's, so that users can neither take nor block it: "PID NAME", while a session has it locked.
#: Commands hold it too, shared, and write nothing.
FILE = Path("/run/netnice/reserved")
VARIABLE = "NETNICE_RESERVATION"


@contextlib.contextmanager
def reserved(name: str) -> Iterator[None]:
    """Reserves the machine as ``name``, once no other session has it; a session inside another's does not."""
    require_root()
    FILE.parent.mkdir(mode=0o700, exist_ok=True)
    FILE.parent.chmod(0o700)
    FILE.touch(mode=0o600)
    with FILE.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder, _, its_name = file.read().strip().partition(" ")
            if holder and holder == os.environ.get(VARIABLE):
                yield
                return
            if holder:
                print(
                    f"waiting for PID {holder} ({its_name}), which has reserved netnice on this machine",
                    file=sys.stderr,
                )
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()} {name}\n")
        file.flush()
        os.environ[VARIABLE] = str(os.getpid())
        try:
            yield
        finally:
            del os.environ[VARIABLE]
            file.truncate(0)
