# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""pour.py: sends zeros without end to whoever connects, by IPv4 or IPv6; prints its port."""

import contextlib
import socket
import threading


def pour(peer: socket.socket) -> None:
    """Until the other end has gone."""
    with peer, contextlib.suppress(OSError):
        while True:
            peer.sendall(bytes(65536))


def main() -> None:
    """Until it is ended."""
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            peer, _ = server.accept()
            threading.Thread(target=pour, args=(peer,), daemon=True).start()


if __name__ == "__main__":
    main()
