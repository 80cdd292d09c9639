# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""settings ADDRESS PORT tcp|mptcp: sockets with settings of their own, and one without.

At SIGUSR1 it accepts one more connection. It prints congestion control, TOS, priority, IPv6 traffic class and the
window clamp that the program has set, else 0. It does so of a client that chose, one that did not, a server that chose,
and what that accepts. At SIGUSR2 the first sets its TOS and its priority anew.
"""

import json
import signal
import socket
import sys

from system.programs.ends import settings


def serve(address: str, port: str, protocol: str) -> None:
    """Opens them, and answers."""

    def like(peer: socket.socket) -> list[str | int]:
        if protocol == "mptcp":  # it has neither
            return [*settings(peer), 0, 0]
        clamp = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP)
        own = clamp if clamp < 30_000 else 0  # the kernel's is at least a half of the first buffer
        tclass = peer.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if peer.family == socket.AF_INET6 else 0
        return [*settings(peer), tclass, own]

    def opened(family: int, control: str) -> socket.socket:
        made = socket.socket(family, socket.SOCK_STREAM, 0 if protocol == "tcp" else 262)
        if control:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
            made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 3)
            if protocol == "tcp":
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, 20_000)
        return made

    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])
    chosen, plain = opened(socket.AF_INET, "reno"), opened(socket.AF_INET, "")
    for one in (chosen, plain):
        one.connect((address, int(port)))
        one.send(b"x")
    server = opened(socket.AF_INET6, "reno")
    server.bind(("::", 0))
    server.listen()
    kept = []
    print("ready", flush=True)
    while True:
        if signal.sigwait([signal.SIGUSR1, signal.SIGUSR2]) == signal.SIGUSR2:
            chosen.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x48)
            chosen.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 4)
            chosen.send(b"x")
            print("set", flush=True)
            continue
        kept += [socket.create_connection(("127.0.0.1", server.getsockname()[1])), server.accept()[0]]
        print(json.dumps([like(one) for one in (chosen, plain, server, kept[-1])]), flush=True)


serve(*sys.argv[1:])
