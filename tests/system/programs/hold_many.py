# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""hold_many.py NUMBER: so many TCP connections to a port of this host, both ends, kept until this program is ended.

Prints a line when all are there. At SIGUSR1 each carries a byte, and it prints how many arrived.
"""

import resource
import signal
import socket
import sys


def main() -> None:
    """Both ends of all."""
    many = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    with socket.create_server(("127.0.0.1", 0), backlog=many) as server:
        held = [(socket.create_connection(server.getsockname()), server.accept()[0]) for _ in range(many)]
    print(flush=True)
    while signal.sigwait([signal.SIGUSR1]):
        for one, _ in held:
            one.sendall(b"x")
        print(sum(len(other.recv(1)) for _, other in held), flush=True)


if __name__ == "__main__":
    main()
