# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Theorem 1 of TCP Nice: the bound on Reno's loss of throughput, and the fluid model behind it, integrated.

State: Wr and Wn, the packets in flight of m Reno and l Nice flows, on a link of mu packets/s with round trip tau
and a buffer of B packets. Reno grows by one a round trip each. Nice grows while the queue is empty, shrinks by
one a round trip each while it is not (Vegas with beta = 0), and halves once a round trip above t B, at most as
fast as Reno grows, so that the queue does not fall below t B. Wr + Wn = mu tau + B is a loss: all times gamma.
"""

import math
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Path:
    """The bottleneck: mu in packets/s, tau in seconds, the buffer in packets, gamma the factor at a loss."""

    mu: float
    tau: float
    buffer: float
    gamma: float = 0.5


def bound(path: Path, reno: int, threshold: float) -> float:
    """The right side of equation (1); threshold is t as a part of the buffer."""
    exponent = -path.buffer * (1 - threshold) * path.gamma / reno
    return 4 * reno * math.exp(exponent) / ((path.mu * path.tau + path.buffer) * path.gamma)


@cache
def reno_throughput(path: Path, reno: int, nice: int, threshold: float, periods: int = 24, steps: int = 20) -> float:
    """Packets/s of Reno over the second half of `periods` losses; `steps` of integration a round trip."""
    pipe = path.mu * path.tau
    wr, wn = pipe * 0.4, pipe * 0.1 * (nice > 0)
    sent = time = 0.0
    losses = 0
    while losses < periods:
        queue = max(0.0, wr + wn - pipe)
        rtt = path.tau + queue / path.mu
        dt = path.tau / steps
        if losses >= periods // 2:
            sent += wr / rtt * dt
            time += dt
        grow = reno / rtt * dt
        if queue <= 0:
            change = nice / rtt * dt
        elif queue < threshold * path.buffer:
            change = -nice / rtt * dt
        else:
            change = -min(wn * math.log(2) / rtt * dt, grow)
        wr += grow
        wn = max(0.0, wn + change)
        if wr + wn >= pipe + path.buffer:
            wr *= path.gamma
            wn *= path.gamma
            losses += 1
    return sent / time


def interference(path: Path, reno: int, nice: int, threshold: float) -> float:
    """The part of its throughput that Reno loses to Nice in the fluid model."""
    return 1 - reno_throughput(path, reno, nice, threshold) / reno_throughput(path, reno, 0, threshold)
