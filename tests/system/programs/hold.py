# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""hold.py listen | hold.py connect ADDRESS PORT: one TCP connection, kept until this program is ended.

Prints the port it listens on, and a line when the connection is there.
"""

import signal
import socket
import sys


def main() -> None:
    """One end of it."""
    if sys.argv[1] == "listen":
        server = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        print(server.getsockname()[1], flush=True)
        connection, _ = server.accept()
    else:
        connection = socket.socket(socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET)
        connection.connect((sys.argv[2], int(sys.argv[3])))
    connection.send(b"x")
    connection.recv(1)
    print("established", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
