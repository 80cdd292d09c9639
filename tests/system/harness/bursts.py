# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Segments that left together: below two segments of window a sender sends pairs, and nothing between."""

from __future__ import annotations

from collections.abc import Iterable

from testbed import Packet

TOGETHER = 0.005  # seconds; pairs are at least 20 ms apart wherever this is used


def bursts(packets: Iterable[Packet]) -> list[tuple[float, int]]:
    """When each burst began, and how many segments it had; of packets with payload that go one way."""
    found: list[tuple[float, int]] = []
    last = float("-inf")
    for packet in packets:
        if packet.seconds - last > TOGETHER:
            found.append((packet.seconds, 1))
        else:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        last = packet.seconds
    return found


def round_trips(packets: Iterable[Packet]) -> list[float]:
    """Seconds from a segment that left to the first acknowledgement of it, once for each acknowledgement."""
    sent: dict[int, float] = {}
    found = []
    for packet in packets:
        if packet.leaves and packet.payload > 0:
            sent.setdefault((packet.sequence + packet.payload) % 2**32, packet.seconds)
        elif not packet.leaves and packet.acknowledged in sent:
            found.append(packet.seconds - sent.pop(packet.acknowledged))
    return found
