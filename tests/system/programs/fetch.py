# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""fetch.py ADDRESS PORT PATH: a slow download over HTTP; prints its TCP_WINDOW_CLAMP five times a second."""

import socket
import sys
import time


def main() -> None:
    """Until the other end has sent it all."""
    address, port, path = sys.argv[1:]
    with socket.create_connection((address, int(port))) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        told = time.monotonic()
        while connection.recv(65536):
            time.sleep(0.01)
            if time.monotonic() > told + 0.2:
                told = time.monotonic()
                print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP), flush=True)


if __name__ == "__main__":
    main()
