# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Segments that left together: below two segments of window a sender sends pairs, and nothing between."""

from __future__ import annotations

from collections.abc import Iterable

from testbed import Packet

_TOGETHER = 0.005  # seconds; pairs are at least 20 ms apart wherever this is used


def bursts(packets: Iterable[Packet]) -> list[tuple[float, int]]:
    """When each burst's first segment arrived, and how many segments it had."""
    found: list[tuple[float, int]] = []
    last = float("-inf")
    for packet in packets:
        if packet.seconds - last > _TOGETHER:
            found.append((packet.seconds, 1))
        else:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        last = packet.seconds
    return found
