# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""serve.py: accepts connections and keeps them; prints its port, then of each its congestion control and its TOS."""

import json
import socket


def main() -> None:
    """Until it is ended."""
    kept = []
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            peer, _ = server.accept()
            kept.append(peer)
            name = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).partition(b"\0")[0].decode()
            print(json.dumps([name, peer.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)]), flush=True)


if __name__ == "__main__":
    main()
