# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""choose.py ADDRESS PORT [FIRST]: a download whose program says itself whether it yields.

SIGUSR1 begins, SIGUSR2 stops; FIRST (1 or 0) is said before it connects. Prints after each "ok", or the error's name,
and a line when it is connected.
"""

import errno
import signal
import socket
import sys
import time

NETNICE_RECEIVE = 0x6E6E


def say(connection: socket.socket, value: int) -> None:
    """Tells the kernel, and prints its answer."""
    try:
        connection.setsockopt(socket.IPPROTO_TCP, NETNICE_RECEIVE, value)
    except OSError as error:
        print(errno.errorcode[error.errno or 0], flush=True)
    else:
        print("ok", flush=True)


def main() -> None:
    """Until the other end has gone."""
    address, port, *first = sys.argv[1:]
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as connection:
        for value in first:
            say(connection, int(value))
        connection.connect((address, int(port)))
        signal.signal(signal.SIGUSR1, lambda *_: say(connection, 1))
        signal.signal(signal.SIGUSR2, lambda *_: say(connection, 0))
        print("connected", flush=True)
        while connection.recv(65536):
            time.sleep(0.01)


if __name__ == "__main__":
    main()
