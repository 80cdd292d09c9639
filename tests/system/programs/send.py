# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""send.py ADDRESS PORT NAME SECONDS: sends zeros over a connection that chooses its own congestion control."""

import socket
import sys
import time


def main() -> None:
    """The command."""
    address, port, name, seconds = sys.argv[1:]
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        connection.connect((address, int(port)))
        end = time.monotonic() + float(seconds)
        while time.monotonic() < end:
            connection.send(bytes(65536))


if __name__ == "__main__":
    main()
