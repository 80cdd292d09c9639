# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Theorem 1 of TCP Nice: the bound on Reno's loss of throughput, the fluid model behind it, integrated, and the lab.

State: Wr and Wn, the packets in flight of m Reno and l Nice flows, on a link of mu packets/s with round trip tau
and a buffer of B packets. Reno grows by one a round trip each. Nice grows while the queue is empty, shrinks by
one a round trip each while it is not (Vegas with beta = 0), and halves once a round trip above t B, at most as
fast as Reno grows, so that the queue does not fall below t B. Wr + Wn = mu tau + B is a loss: all times gamma.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from experiments.tcp_nice.section4 import PACKET, PAPER_DURATION, PAPER_WARM_UP, ROUND_TRIP
from netnice_lab.model.background import background, finish
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}


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


def long_flows(reno: int, nice: int, buffer: int, threshold: int, seed: int) -> Scenario:
    """Theorem 1's traffic: long Reno flows and long Nice flows on 4 Mbit/s, 100 ms, a buffer in packets."""
    chosen = protocol("nice").with_threshold(threshold)
    topology = dumbbell(4_000_000, ROUND_TRIP, Queue("fifo", packets=buffer), mtu=PACKET)
    foreground = Bulk("www", "home", reno, "reno", start=(0.0, 3.0), group="foreground")
    traffic = (foreground, *background(chosen, nice, 0))
    if not nice:
        return Scenario(topology, traffic, PAPER_DURATION, PAPER_WARM_UP, seed)
    return finish(Scenario(topology, traffic, PAPER_DURATION, PAPER_WARM_UP, seed), chosen)


MU, TAU = 4_000_000 / 8 / 526, 0.1


def with_theory(frame: pd.DataFrame) -> pd.DataFrame:
    """Interference from the lab's goodputs, and the same cells from the fluid model and the bound."""
    import pandas as pd

    rows = []
    key = ["buffer", "reno", "seed"]
    alone = frame[frame.nice == 0].groupby(key).foreground.mean()
    columns = frame[frame.nice > 0][["buffer", "reno", "nice", "threshold", "seed", "foreground"]]
    for buffer, reno, nice, percent, seed, goodput in columns.to_numpy(float).tolist():
        path, m, flows, t = Path(MU, TAU, buffer), int(reno), int(nice), percent / 100
        lines = {
            f"lab m={m}, l={flows}, t={t}": 1 - goodput / alone[(buffer, reno, seed)],
            f"fluid m={m}, l={flows}, t={t}": interference(path, m, flows, t),
            f"bound m={m}, t={t}": bound(path, m, t),
        }
        rows += [{"buffer": buffer, "line": line, "interference": max(v, 1e-5)} for line, v in lines.items()]
    return pd.DataFrame(rows)


EXPERIMENTS["nice-theorem1"] = Experiment(
    title="TCP Nice, theorem 1: Reno's lost throughput against the buffer",
    claim="I <= 4 m exp(-B (1-t) gamma / m) / ((mu tau + B) gamma): the interference falls exponentially with the "
    "buffer, whatever the number of Nice flows.",
    differs="Long Reno flows at 4 Mbit/s, 100 ms, 512-byte packets. The model's flows are synchronised fluids with "
    "beta = 0; the lab's are Linux flows with delayed ACKs, which grow half as fast, and SACK. Differences below about "
    "0.01 are the phase of the losses, not interference; values below 1e-5 are drawn there.",
    sweep={"reno": (1, 4), "buffer": (10, 20, 49, 98, 196), "nice": (0, 1, 16), "threshold": (10, 50)},
    scenario=lambda reno, buffer, nice, threshold, seed: long_flows(reno, nice, buffer, threshold, seed),
    figures=[Figure("buffer", "interference", "line", "buffer, packets", "Reno's throughput lost", False, True)],
    derive=with_theory,
    seeds=1,
    pinned={"foreground": 0.05},
    bars=[
        Bar("a buffer of 2 BDP: 16 Nice flows cost 1 Reno flow next to nothing", "foreground",
            {"reno": 1, "buffer": 196, "nice": 16, "threshold": 10},
            {"reno": 1, "buffer": 196, "nice": 0, "threshold": 10}, minimum=0.95),
    ],
)  # fmt: skip
