# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""ends.py WHAT [WORDS]: one end of TCP connections, or both. WHAT is a function of this file, WORDS its arguments.

A server prints its port first.
"""

import contextlib
import ctypes
import errno
import hashlib
import json
import os
import random
import resource
import signal
import socket
import struct
import sys
import threading
import time

MPTCP = socket.IPPROTO_MPTCP
NETNICE_RECEIVE = 0x6E6E
IPV6_ADDRFORM = 1


def _server(protocol: int = 0, backlog: int = 4096, control: str = "") -> socket.socket:
    """On a free port of ::, so that its IPv4 is v4-mapped."""
    server = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol)
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    if control:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    server.bind(("::", 0))
    server.listen(backlog)
    print(server.getsockname()[1], flush=True)
    return server


def _client(address: str, protocol: int = 0) -> socket.socket:
    return socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, protocol)


def settings(peer: socket.socket) -> list[str | int]:
    """Congestion control, TOS (of IPv4) and priority of a connection."""
    name = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).partition(b"\0")[0].decode()
    tos = peer.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)
    return [name, tos, peer.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY)]


def _keep(connection: socket.socket) -> None:
    """Says when it is there, and waits."""
    connection.send(b"x")
    connection.recv(1)
    print("established", flush=True)
    signal.pause()


def listen() -> None:
    """Accepts one connection and keeps it."""
    connection, _ = _server().accept()
    _keep(connection)


def connect(address: str, port: str) -> None:
    """The other end of it."""
    connection = _client(address)
    connection.connect((address, int(port)))
    _keep(connection)


def many(number: str) -> None:
    """Both ends of so many connections; at SIGUSR1 each carries a byte, and it prints how many arrived."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    with socket.create_server(("127.0.0.1", 0), backlog=int(number)) as server:
        held = [(socket.create_connection(server.getsockname()), server.accept()[0]) for _ in range(int(number))]
    print(flush=True)
    while signal.sigwait([signal.SIGUSR1]):
        for one, _ in held:
            one.sendall(b"x")
        print(sum(len(other.recv(1)) for _, other in held), flush=True)


def gets() -> None:
    """Connects to itself, and prints what it is given: congestion control and TOS."""
    server = socket.create_server(("127.0.0.1", 0))
    print(json.dumps(settings(socket.create_connection(server.getsockname()))[:2]))


def serve() -> None:
    """Accepts connections and keeps them; prints of each its congestion control and its TOS."""
    server, kept = _server(), []
    while True:
        kept.append(server.accept()[0])
        print(json.dumps(settings(kept[-1])[:2]), flush=True)


def late(*words: str) -> None:
    """late [mptcp] [le] [CONGESTION CONTROL]: accepts what waits at SIGUSR1, and says what each connection is like."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    control = [word for word in words if word not in ("mptcp", "le")]
    server, kept = _server(MPTCP if "mptcp" in words else 0, 4096, *control), []
    if "le" in words:
        server.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 4)
    server.setblocking(False)
    while signal.sigwait([signal.SIGUSR1]):
        with contextlib.suppress(BlockingIOError):
            while True:
                kept.append(server.accept()[0])
        print(json.dumps([settings(peer) for peer in kept]), flush=True)


def pour(control: str = "", protocol: str = "tcp") -> None:
    """Sends zeros without end on each connection."""

    def one(peer: socket.socket) -> None:
        with peer, contextlib.suppress(OSError):
            while True:
                peer.sendall(bytes(65536))

    server = _server(MPTCP if protocol == "mptcp" else 0, control=control)
    while True:
        threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()


def take() -> None:
    """Takes whatever many connections send."""

    def one(peer: socket.socket) -> None:
        with peer, contextlib.suppress(OSError):
            while peer.recv(65536):
                pass

    server = _server()
    while True:
        threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()


def pool(address: str, port: str, idle: str, warmed: str) -> None:
    """Keeps so many connections that have sent so many bytes, and sends without end over one more."""
    kept = [_client(address) for _ in range(int(idle))]
    for one in kept:
        one.connect((address, int(port)))
        one.sendall(bytes(int(warmed)))
    busy = _client(address)
    busy.connect((address, int(port)))
    print("begins", flush=True)
    while True:
        busy.sendall(bytes(65536))


def drain(address: str, port: str, protocol: str = "tcp") -> None:
    """Takes whatever a server sends over one connection."""
    with _client(address, MPTCP if protocol == "mptcp" else 0) as connection:
        connection.connect((address, int(port)))
        while connection.recv(65536):
            pass


def sink(rate: str = "") -> None:
    """Takes connections one by one, at most so many bytes a second; prints the bytes and SHA-256 of each."""
    server = _server()
    while True:
        digest, count = hashlib.sha256(), 0
        with server.accept()[0] as peer:
            while block := peer.recv(65536):
                digest.update(block)
                count += len(block)
                if rate:
                    time.sleep(len(block) / float(rate))
        print(json.dumps([count, digest.hexdigest()]), flush=True)


def send(address: str, port: str, name: str, seconds: str) -> None:
    """Sends zeros for so long over a connection that chooses its own congestion control."""
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        connection.connect((address, int(port)))
        end = time.monotonic() + float(seconds)
        while time.monotonic() < end:
            connection.send(bytes(65536))


def fetch(address: str, port: str, path: str, most: str = "") -> None:
    """A slow download over HTTP; prints its TCP_WINDOW_CLAMP, which may be its own, five times a second.

    With one of its own it has such a buffer, too: where the kernel makes the buffer larger, it replaces the clamp.
    """
    with _client(address) as connection:
        if most:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 10 * int(most))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, int(most))
        connection.connect((address, int(port)))
        connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        told = time.monotonic()
        while connection.recv(65536):
            time.sleep(0.01)
            if time.monotonic() > told + 0.2:
                told = time.monotonic()
                print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP), flush=True)


def browse(host: str, port: str, ahead: str, demanded: str) -> None:
    """A browser's connection: prefetches one path, at SIGUSR1 demands another; says when each has arrived."""
    import http.client  # here: it would double the time that the others take to start

    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    connection = http.client.HTTPConnection(host, int(port))
    for path, headers in ((ahead, {"Sec-Purpose": "prefetch"}), (demanded, {})):
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
        print(reply.status, len(reply.read()), flush=True)
        signal.sigwait([signal.SIGUSR1])


def put() -> None:
    """An HTTP server that takes uploads; prints the bytes of each."""
    import http.server

    class Put(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # so that curl's 'Expect: 100-continue' is answered

        def do_PUT(self) -> None:
            rest = whole = int(self.headers["Content-Length"])
            while rest:
                rest -= len(self.rfile.read(min(rest, 65536)))
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()
            print(whole, flush=True)

        def log_message(self, *_arguments: object) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("", 0), Put)
    print(server.server_port, flush=True)
    server.serve_forever()


def choose(address: str, port: str, *first: str) -> None:
    """A download that says itself whether it yields: ``first`` (1 or 0) before it connects, then SIGUSR1 and SIGUSR2.

    Prints what the kernel answers, "ok" or the error's name, and a line when it is connected.
    """

    def say(value: int) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, NETNICE_RECEIVE, value)
        except OSError as error:
            print(errno.errorcode[error.errno or 0], flush=True)
        else:
            print("ok", flush=True)

    with _client(address) as connection:
        for value in first:
            say(int(value))
        connection.connect((address, int(port)))
        signal.signal(signal.SIGUSR1, lambda *_: say(1))
        signal.signal(signal.SIGUSR2, lambda *_: say(0))
        print("connected", flush=True)
        while connection.recv(65536):
            time.sleep(0.01)


def chooses_tos(address: str, port: str, tos: str) -> None:
    """An upload that marks itself once it has begun, as ssh does."""
    connection = _client(address)
    connection.connect((address, int(port)))
    connection.sendall(bytes(65536))
    if connection.family == socket.AF_INET6:
        connection.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, int(tos))
    if "." in address:
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(tos))
    print("chosen", flush=True)
    while True:
        connection.sendall(bytes(65536))
        time.sleep(0.01)


def drains_with_tos(address: str, port: str, tos: str) -> None:
    """A download that marks itself once it has begun, and sends nothing."""
    with _client(address) as connection:
        connection.connect((address, int(port)))
        connection.recv(65536)
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(tos))
        print("chosen", flush=True)
        while connection.recv(65536):
            time.sleep(0.01)


def later(address: str, port: str) -> None:
    """An upload that begins at SIGUSR1."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    with _client(address) as connection:
        connection.connect((address, int(port)))
        print("connected", flush=True)
        signal.sigwait([signal.SIGUSR1])
        while True:
            connection.sendall(bytes(65536))


def asks(verb: str, niceness: str, count: str = "1") -> None:
    """The call of algorithms/niceness/call.h; prints the answer to the last of so many: an errno, or its name."""
    file, answer = os.open("/proc/sys/kernel/ostype", os.O_RDONLY), "nobody"
    offset = 1 << 30 | int(verb) << 28 | int(niceness) << 22
    for _ in range(int(count)):
        try:
            os.pread(file, 1, offset)
        except OSError as error:
            answer = errno.errorcode.get(error.errno or 0, str(error.errno))
    print(answer)


def wander(address: str, seed: str, count: str) -> None:
    """So many sockets to a server of its own and to one elsewhere, each used in any order that a user may think of."""
    draw = random.Random(int(seed))
    server = _server()
    port = server.getsockname()[1]
    if not os.fork():
        while True:
            with contextlib.suppress(OSError):
                server.accept()[0].close()
    server.close()
    targets = (("127.0.0.1", port), ("127.77.3.9", port), ("::1", port), ("::ffff:127.0.0.1", port), (address, 7))
    controls = (b"netnice", b"netnice1", b"netnice2", b"nice", b"cubic", b"reno")

    def one_of(connection: socket.socket) -> None:
        match draw.randrange(7):
            case 0 | 1:
                connection.connect(draw.choice(targets))
            case 2:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, draw.choice(controls))
            case 3:
                connection.send(bytes(draw.randrange(1, 60_000)))
            case 4:
                connection.setsockopt(socket.IPPROTO_IPV6, IPV6_ADDRFORM, socket.AF_INET)
            case 5:
                _disconnect(connection)
            case 6:
                connection.setsockopt(socket.IPPROTO_TCP, NETNICE_RECEIVE, draw.randrange(2))

    for _ in range(int(count)):
        with socket.socket(draw.choice((socket.AF_INET, socket.AF_INET6))) as connection:
            connection.settimeout(0.002)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            for _ in range(draw.randrange(2, 9)):
                with contextlib.suppress(OSError):
                    one_of(connection)
    print("done", flush=True)
    os.killpg(0, signal.SIGKILL)


def again(address: str, port: str, verb: str) -> None:
    """A socket that was connected to a near peer, sends to another one or drains it."""
    connection, near = socket.socket(), _server()
    connection.connect(("127.0.0.1", near.getsockname()[1]))
    peer = near.accept()[0]
    for _ in range(50):
        connection.sendall(bytes(20_000))
        peer.sendall(bytes(20_000))
        connection.recv(20_000, socket.MSG_WAITALL)
        peer.recv(20_000, socket.MSG_WAITALL)
    _disconnect(connection)
    connection.connect((address, int(port)))
    print("begins", flush=True)
    while verb == "send" or connection.recv(65536):
        if verb == "send":
            connection.sendall(bytes(65536))


def _disconnect(connection: socket.socket) -> None:
    """connect(2) with AF_UNSPEC, which Python's sockets cannot say."""
    ctypes.CDLL(None).connect(connection.fileno(), bytes(16), 16)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
