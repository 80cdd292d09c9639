# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The two ends of the connections: what ends.py serve prints is the port of ends.py ADDRESS PORT NUMBER."""

import os
import socket
import socketserver
import sys
import threading

BYTES = b"x" * 4000


class Echo(socketserver.StreamRequestHandler):
    """Sends back what it gets."""

    def handle(self) -> None:
        self.wfile.write(self.rfile.read())


class Server(socketserver.ThreadingTCPServer):
    """To any number at a time."""

    request_queue_size = 4096
    daemon_threads = True


def connect(address: str, port: int) -> None:
    """One connection, from its beginning to its end: it sends and receives something."""
    with socket.create_connection((address, port)) as one:
        one.sendall(BYTES)
        one.shutdown(socket.SHUT_WR)
        while one.recv(65536):
            pass


def in_a_child(address: str, port: int) -> None:
    """That of a child with a thread that does nothing, as real programs have."""
    child = os.fork()
    if not child:
        threading.Thread(target=int).start()
        connect(address, port)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("a child could not connect")


def main(address: str, port: str = "", number: str = "") -> None:
    """So many connections, one after another, every third a child's; or the server."""
    if address == "serve":
        with Server(("0.0.0.0", 0), Echo) as server:
            print(server.server_address[1], flush=True)
            server.serve_forever()
    for one in range(int(number)):
        (in_a_child if one % 3 == 2 else connect)(address, int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])
