# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""accept_late.py [mptcp] [CONGESTION CONTROL]: listens and prints its port.

At SIGUSR1 it accepts what waits; it says as JSON of each connection its congestion control, TOS (of IPv4) and priority.
"""

import json
import signal
import socket
import sys


def like(peer: socket.socket) -> list[str | int]:
    """What is asked of the kernel about one connection."""
    name = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).partition(b"\0")[0].decode()
    tos = peer.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)
    return [name, tos, peer.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY)]


def main() -> None:
    """Until it is ended."""
    protocol = socket.IPPROTO_MPTCP if "mptcp" in sys.argv[1:] else 0
    control = [word for word in sys.argv[1:] if word != "mptcp"]
    kept = []
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol) as server:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        for name in control:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        server.bind(("::", 0))
        server.listen(4096)
        server.setblocking(False)
        print(server.getsockname()[1], flush=True)
        while signal.sigwait([signal.SIGUSR1]):
            try:
                while True:
                    kept.append(server.accept()[0])
            except BlockingIOError:
                print(json.dumps([like(peer) for peer in kept]), flush=True)


if __name__ == "__main__":
    main()
