# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP segments that arrive in a namespace or leave it, by a packet socket and the kernel's clock.

Only headers are kept. Run as a program inside the namespace it prints one JSON array a packet; the
class does that. The last line is how many the socket dropped.
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from testbed import ownership
from testbed.namespace import Namespace, wait_until

_ETH_P_ALL = 0x0003  # what leaves is only shown to sockets of all protocols
_SO_TIMESTAMPNS = 35
_SO_RCVBUFFORCE = 33  # SO_RCVBUF stops at net.core.rmem_max, a few packets of 64 KiB
_BUFFER = 128 << 20  # what arrives in some seconds while Python is kept off the CPU
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_HEADERS = 120


@dataclass(frozen=True)
class Packet:
    """A TCP segment."""

    seconds: float  # of the kernel's real-time clock
    tos: int  # or traffic class
    source_port: int
    port: int
    sequence: int
    acknowledged: int
    payload: int
    leaves: bool


class Capture(ownership.Owned):
    """All TCP that crosses the namespace's devices, loopback left out, while the context lasts."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__()
        self.packets: list[Packet] = []
        self._namespace = namespace
        self._folder = ownership.scratch("capture")

    def __enter__(self) -> Self:
        file = self._folder / "packets"
        out = self._parts.enter_context(file.open("w"))
        root = str(Path(__file__).resolve().parent.parent)
        process = self._namespace.spawn(sys.executable, "-m", "testbed.capture", stdout=out, env={"PYTHONPATH": root})
        self._parts.push(process)
        wait_until(lambda: file.stat().st_size > 0, "the packet socket", process=process)
        return self

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        _listening, *lines, dropped = (self._folder / "packets").read_text().splitlines()
        self.packets = [Packet(*json.loads(line)) for line in lines]
        if int(dropped) and not any(raised):
            message = f"the packet socket dropped {dropped} packets beside {len(lines)}: the machine is too busy"
            raise RuntimeError(message)


def decode(packet: bytes, seconds: float, *, leaves: bool) -> Packet | None:
    """A packet's headers, if it is a TCP segment: without extension headers, if over IPv6."""
    if len(packet) >= 40 and packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
        tos, total = packet[1], struct.unpack_from("!H", packet, 2)[0]
        ip_length = (packet[0] & 0xF) * 4
    elif len(packet) >= 60 and packet[0] >> 4 == 6 and packet[6] == socket.IPPROTO_TCP:
        tos, total = (packet[0] & 0xF) << 4 | packet[1] >> 4, 40 + struct.unpack_from("!H", packet, 4)[0]
        ip_length = 40
    else:
        return None
    source, port, sequence, acknowledged = struct.unpack_from("!HHII", packet, ip_length)
    payload = total - ip_length - (packet[ip_length + 12] >> 4) * 4
    return Packet(seconds, tos, source, port, sequence, acknowledged, payload, leaves)


def _main() -> None:
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: stop.append(number))
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL)) as raw:
        raw.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        raw.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER)
        raw.settimeout(0.1)
        print("listening", flush=True)
        while not stop:
            with contextlib.suppress(TimeoutError):
                data, ancillary, _flags, address = raw.recvmsg(_HEADERS, 64)
                if address[0] == "lo":
                    continue
                stamp = next(d for _l, t, d in ancillary if t == _SO_TIMESTAMPNS)
                whole, nanos = struct.unpack("qq", stamp)
                packet = decode(data, whole + nanos / 1e9, leaves=address[2] == socket.PACKET_OUTGOING)
                if packet:
                    print(json.dumps(list(vars(packet).values())))
        _seen, dropped = struct.unpack("II", raw.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
        print(dropped)


if __name__ == "__main__":
    _main()
