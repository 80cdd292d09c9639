# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""engine.py MONITOR WORDS: starts a container as podman does, pulls its image, and ends before it.

Its monitor is forked twice, leaves the session and executes MONITOR. That executes WORDS in a child. Each but WORDS
prints its process and what a connection of its own is given.
"""

import os
import socket
import subprocess
import sys


def told() -> None:
    """The congestion control of a connection to itself."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        given = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).partition(b"\0")[0].decode()
    print(os.getpid(), given, flush=True)


def monitor(words: list[str]) -> None:
    """As conmon: it stays while its container runs."""
    told()
    subprocess.run(words, check=False)


def engine(program: str, words: list[str]) -> None:
    """As podman with --detach."""
    told()
    if (first := os.fork()) == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execv(program, [program, __file__, "--monitor", *words])
    os.waitpid(first, 0)


if __name__ == "__main__":
    if sys.argv[1] == "--monitor":
        monitor(sys.argv[2:])
    else:
        engine(sys.argv[1], sys.argv[2:])
