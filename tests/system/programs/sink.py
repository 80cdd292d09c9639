# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""sink.py [RATE]: takes TCP connections; prints its port, then for each the bytes and their SHA-256.

RATE limits how fast it reads, in bytes per second.
"""

import hashlib
import json
import socket
import sys
import time


def main() -> None:
    """One connection after the other."""
    rate = float(sys.argv[1]) if len(sys.argv) > 1 else None
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            peer, _ = server.accept()
            with peer:
                print(json.dumps(drain(peer, rate)), flush=True)


def drain(peer: socket.socket, rate: float | None) -> list[int | str]:
    """Reads to the end; how much it was, and its SHA-256."""
    digest, count = hashlib.sha256(), 0
    while block := peer.recv(65536):
        digest.update(block)
        count += len(block)
        if rate:
            time.sleep(len(block) / rate)
    return [count, digest.hexdigest()]


if __name__ == "__main__":
    main()
