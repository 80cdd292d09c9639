# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A call, as two programs: ``python -m demo.household.call answer PORT`` and ``… call ADDRESS PORT …``.

The caller sends a packet each 20 ms and the other end sends each back, so both directions carry 50 a second. A packet's
latency is its way there and back; one that took over a second counts as lost, no call would still play it.
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
import struct
import time

_TOO_LATE_S = 1.0
_HEADER = struct.Struct("!Q")


def answer(port: int) -> None:
    """Says that it is ready, and sends back what comes until it is ended."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("", port))
        print("ready", flush=True)
        while True:
            packet, peer = line.recvfrom(2048)
            line.sendto(packet, peer)


def call(address: str, port: int, *, seconds: float, warmup: float, per_s: int, size: int) -> dict[str, object]:
    """Latencies in ms of the packets sent after ``warmup``, and how many were lost."""
    total = int((warmup + seconds) * per_s)
    first = int(warmup * per_s)
    sent: list[float] = []
    took: dict[int, float] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line, selectors.DefaultSelector() as selector:
        line.connect((address, port))
        line.setblocking(False)
        selector.register(line, selectors.EVENT_READ)
        begin = time.monotonic()
        while True:
            now = time.monotonic()
            due = begin + len(sent) / per_s
            if len(sent) < total and now >= due:
                sent.append(now)
                line.send(_HEADER.pack(len(sent) - 1).ljust(size, b"\0"))
                continue
            if len(sent) == total and now > sent[-1] + _TOO_LATE_S:
                break
            wait = due - now if len(sent) < total else sent[-1] + _TOO_LATE_S - now
            if not selector.select(max(wait, 0)):
                continue
            (number,) = _HEADER.unpack_from(line.recv(2048))
            took[number] = time.monotonic() - sent[number]
    arrived = [took[n] for n in range(first, total) if took.get(n, _TOO_LATE_S) < _TOO_LATE_S]
    return {"sent": total - first, "lost": total - first - len(arrived), "ms": [round(t * 1e3, 3) for t in arrived]}


def main() -> None:
    """One end of the call."""
    parser = argparse.ArgumentParser(prog="python -m demo.household.call", description=(__doc__ or "").split("\n")[0])
    ends = parser.add_subparsers(dest="end", required=True)
    answering = ends.add_parser("answer")
    answering.add_argument("port", type=int)
    calling = ends.add_parser("call")
    calling.add_argument("address")
    calling.add_argument("port", type=int)
    calling.add_argument("--seconds", type=float, required=True)
    calling.add_argument("--warmup", type=float, default=0.0)
    calling.add_argument("--per-s", type=int, default=50)
    calling.add_argument("--size", type=int, default=172)
    options = vars(parser.parse_args())
    if options.pop("end") == "answer":
        answer(**options)
    else:
        print(json.dumps(call(**options)))


if __name__ == "__main__":
    main()
