# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the background is made of, whichever way it goes."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from demo.conditions import Conditions, Scenario
from testbed import ByteCounter, Namespace, Process, TestbedError, program, scratch


@dataclass(frozen=True)
class Background:
    """Transfers that outlast the run.

    ``received`` counts their bytes where they arrive; ``port`` tells their sockets in the sender's namespace from
    others, and those should run on ``algorithm``.
    """

    transfers: list[Process]
    received: ByteCounter
    port: dict[str, int]
    algorithm: set[str]

    def check(self) -> None:
        """A transfer that ended would make the background smaller than it says."""
        for transfer in self.transfers:
            if not transfer.running():
                _, err = transfer.end()
                raise TestbedError(f"a transfer ended with {transfer.returncode} before its time: {err.strip()}")


Transferring = Callable[[Scenario, Conditions, Namespace, Namespace], AbstractContextManager[Background]]
"""The background of a scenario between a sender and a receiver, while the context lasts."""


@contextlib.contextmanager
def ending(transfers: Iterable[Process]) -> Iterator[list[Process]]:
    """Started one after the other; all ended at once, as each takes half a second to tidy up."""
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(transfer) for transfer in transfers]
        try:
            yield started
        finally:
            for transfer in started:
                transfer.signal(signal.SIGTERM)


def marking() -> dict[str, str]:
    """The environment in which a program's packets are marked DSCP LE: mark-le.c, preloaded."""
    library = scratch("marker") / "mark-le.so"
    source = Path(__file__).with_name("mark-le.c")
    argv = [program("cc"), "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    done = subprocess.run([*argv, "-o", str(library), str(source), "-ldl"], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise TestbedError(f"cc could not compile {source.name}: {done.stderr}")
    return {"LD_PRELOAD": str(library)}
