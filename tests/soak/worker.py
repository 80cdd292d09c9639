# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""worker.py ADDRESS PORT NUMBER: so many connections, one after another; every third is a child's.

Each sends and receives something and ends. A child has a thread that does nothing, as real programs do.
"""

import os
import socket
import sys
import threading

BYTES = b"x" * 4000


def connect(address: str, port: int) -> None:
    """One, from its beginning to its end."""
    with socket.create_connection((address, port)) as one:
        one.sendall(BYTES)
        one.shutdown(socket.SHUT_WR)
        while one.recv(65536):
            pass


def main() -> None:
    """All of them."""
    address, port = sys.argv[1], int(sys.argv[2])
    for number in range(int(sys.argv[3])):
        if number % 3 == 2:
            child = os.fork()
            if not child:
                threading.Thread(target=int).start()
                connect(address, port)
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                sys.exit("a child could not connect")
        else:
            connect(address, port)


if __name__ == "__main__":
    main()
