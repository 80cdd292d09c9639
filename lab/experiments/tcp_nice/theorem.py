# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Theorem 1 of TCP Nice: the bound on Reno's loss of throughput, the fluid model behind it, integrated, and the lab.

The state is Wr and Wn, the packets in flight of m Reno and l Nice flows. The link has mu packets/s, a round trip of tau
and a buffer of B packets. Reno grows by one a round trip each. Nice grows while the queue is empty. It shrinks by one a
round trip each while it is not (Vegas with beta = 0). Above t B it halves once a round trip, at most as fast as Reno
grows, so that the queue stays above that. Wr + Wn = mu tau + B is a loss: all times gamma.

Interference is the loss of packets that Reno has in a period, from loss to loss, as in the paper's outline. By the
second it would be more than the bound where few Nice flows yield to several Reno flows. The period becomes longer, by
0.4 % with 4 Reno flows, 1 Nice flow and 49 packets, and its packets stay the same.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from experiments.tcp_nice.section4 import PACKET, PAPER_DURATION, PAPER_WARM_UP, ROUND_TRIP
from netnice_lab.model.background import background, finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure
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


STEPS = 100
"""Of integration a round trip: the interference is exact to a twentieth of one."""
PERIODS = 24
"""After half of them windows and periods are steady."""


@dataclass(frozen=True)
class Period:
    """From loss to loss: what Reno sent, how long it took, and both windows after the loss at its end."""

    packets: float
    seconds: float
    reno: float
    nice: float


@cache
def integrate(path: Path, reno: int, nice: int, threshold: float, steps: int = STEPS) -> tuple[Period, ...]:
    """The first PERIODS periods of the model."""
    pipe = path.mu * path.tau
    wr, wn = pipe * 0.4, pipe * 0.1 * (nice > 0)
    sent = seconds = 0.0
    found: list[Period] = []
    while len(found) < PERIODS:
        queue = max(0.0, wr + wn - pipe)
        rtt = path.tau + queue / path.mu
        dt = path.tau / steps
        sent, seconds = sent + wr / rtt * dt, seconds + dt
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
            found.append(Period(sent, seconds, wr, wn))
            sent = seconds = 0.0
    return tuple(found)


def reno_packets(path: Path, reno: int, nice: int, threshold: float, steps: int = STEPS) -> float:
    """Packets of Reno in a period, mean of the second half of them."""
    steady = integrate(path, reno, nice, threshold, steps)[PERIODS // 2 :]
    return math.fsum(one.packets for one in steady) / len(steady)


def interference(path: Path, reno: int, nice: int, threshold: float, steps: int = STEPS) -> float:
    """The part of a period's packets that Reno loses to Nice in the fluid model."""
    with_nice, alone = (reno_packets(path, reno, flows, threshold, steps=steps) for flows in (nice, 0))
    return 1 - with_nice / alone


ACKS: dict[str, tuple[bool, tuple[str, ...]]] = {
    "delayed": (False, ()), "each": (True, ()), "each below two": (True, ("below-two",)),
}  # fmt: skip
"""Is each segment acknowledged; and a change of the core (engine/faults.py): Vegas' window shrinks below two segments,
as the proof's does."""


def long_flows(acks: str, beta: int, reno: int, nice: int, buffer: int, threshold: int, seed: int) -> Scenario:
    """Theorem 1's traffic: long Reno flows and long Nice flows on 4 Mbit/s, 100 ms, a buffer in packets."""
    chosen = protocol("nice").with_parameters(threshold=threshold, beta=beta)
    queue = Queue("fifo", packets=buffer)
    each, without = ACKS[acks]
    topology = dumbbell(4_000_000, ROUND_TRIP, queue, mtu=PACKET, quick_acks=each)
    foreground = Bulk("www", "home", reno, "reno", start=(0.0, 3.0), group="foreground")
    traffic = (foreground, *background(chosen, nice, 0))
    if not nice:
        return Scenario(topology, traffic, PAPER_DURATION, PAPER_WARM_UP, seed)
    return finish(Scenario(topology, traffic, PAPER_DURATION, PAPER_WARM_UP, seed, without=without), chosen)


MU, TAU = 4_000_000 / 8 / 526, 0.1


def with_theory(frame: pd.DataFrame) -> pd.DataFrame:
    """Interference from the lab's goodputs, and the same cells from the fluid model and the bound."""
    import pandas as pd

    rows = []
    key = ["acks", "buffer", "reno", "seed"]
    alone = frame[frame.nice == 0].groupby(key).foreground.mean()
    for row in frame[frame.nice > 0].to_dict("records"):
        m, flows, t = int(row["reno"]), int(row["nice"]), row["threshold"] / 100
        path, which = Path(MU, TAU, row["buffer"]), f"m={m}, l={flows}, t={t}"
        lines = {
            f"lab {which}": 1 - row["foreground"] / alone[tuple(row[name] for name in key)],
            f"fluid {which}": interference(path, m, flows, t),
            f"bound m={m}, t={t}": bound(path, m, t),
        }
        where = {name: row[name] for name in ("acks", "beta", "buffer")}
        rows += [where | {"line": line, "interference": max(value, 1e-5)} for line, value in lines.items()]
    return pd.DataFrame(rows)


RENOS, BUFFERS, NICES, THRESHOLDS = (1, 4), (10, 20, 49, 98, 196), (1, 16), (10, 50)
MANY, CLOSE = 100, 8
"""More Nice flows, where the buffer is long; and about as many Reno flows as the shortest buffer has packets."""
LOST = 0.5
"""What Reno keeps at most where non-interference breaks down."""
SMALL = "{mean} is kept: so many flows on ten packets lose to each other, with Nice or without"


def exists(cell: Cell) -> bool:
    """MANY and CLOSE belong to beta = 0 and to the buffers that they are about."""
    if cell["acks"] == "each below two" and (cell["beta"] or cell["reno"] == CLOSE):
        return False
    if cell["nice"] == MANY:
        return cell["beta"] == 0 and cell["reno"] == 1 and cell["buffer"] in BUFFERS[-2:]
    if cell["reno"] == CLOSE:
        close = cell["buffer"] == BUFFERS[0] and cell["threshold"] == THRESHOLDS[0] and cell["nice"] != NICES[0]
        return cell["beta"] == 0 and close
    return True


ROUGH = 0.01
"""Part of Reno's throughput that is the phase of its losses, not interference."""
LEAST = (
    "{mean}: the proof's Nice takes off a segment as long as there is a queue; Vegas' window ends at two, so l pairs "
    "stay in a queue of less than t B. Where it does not end there, it is within the bound"
)
PACKETS = (
    "{mean}: a pair of each of 16 flows is three times this buffer, and the proof's packets are infinitely small; a "
    "Vegas that goes below two has .96 and .91"
)
CROWD = "{mean}: as with 16 flows, Vegas' window ends at two; where it does not it is .95 and more"
LOWEST = (
    "{mean}: the proof's windows fall without end; at the floor of 1/48 a hundred flows send two packets a round trip"
)
PHASE = "{mean} ± {half}: the phase of one flow's losses, which the proof has all flows share"
CELLS_OVER: dict[str, dict[str, str]] = {
    LEAST: {
        "delayed": """
            1/1/20/0.1 1/1/20/0.5 1/16/20/0.1 1/16/20/0.5 1/1/49/0.5 1/16/49/0.1 1/16/49/0.5 1/16/98/0.5
            1/16/196/0.5 4/16/10/0.1 4/16/20/0.5 4/16/49/0.5 4/16/98/0.5 4/16/196/0.5
        """,
        "each": """
            1/1/10/0.1 1/1/10/0.5 1/1/20/0.5 1/16/20/0.1 1/16/20/0.5 1/1/49/0.5 1/16/49/0.1 1/16/49/0.5
            1/1/98/0.5 1/16/98/0.5 1/16/196/0.1 1/16/196/0.5 4/16/20/0.5 4/16/49/0.5 4/16/98/0.5 4/16/196/0.5
        """,
    },
    PACKETS: {
        "delayed": """
            1/16/10/0.1 1/16/10/0.5
        """,
        "each": """
            1/16/10/0.1 1/16/10/0.5
        """,
        "each below two": """
            1/16/10/0.1 1/16/10/0.5
        """,
    },
    PHASE: {
        "each below two": """
            1/16/49/0.1 1/16/49/0.5 1/16/196/0.1 1/16/196/0.5
        """,
    },
    CROWD: {
        "delayed": "1/100/98/0.5 1/100/196/0.5",
        "each": "1/100/98/0.5 1/100/196/0.5",
    },
    LOWEST: {
        "delayed": "1/100/98/0.1 1/100/196/0.1",
        "each": "1/100/98/0.1 1/100/196/0.1",
        "each below two": "1/100/98/0.1 1/100/98/0.5 1/100/196/0.1 1/100/196/0.5",
    },
}
"""By the assumption of the proof that they break: the cells above the bound, m/l/B/t, by how ACKs come."""
OVER = {
    f"{acks} {cell}": reason for reason, found in CELLS_OVER.items() for acks, cells in found.items()
    for cell in cells.split()
}  # fmt: skip


def at_most_the_bound(acks: str, beta: int) -> list[Bar]:
    """Reno keeps what the bound leaves it, in all cells of a world."""
    bars = []
    many = itertools.product(RENOS[:1], BUFFERS[-2:], (MANY,), THRESHOLDS)
    for reno, buffer, nice, threshold in (*itertools.product(RENOS, BUFFERS, NICES, THRESHOLDS), *many):
        says = f"beta {beta}, ACKs {acks}: m={reno}, l={nice}, B={buffer}, t={threshold / 100}"
        cell: Cell = {
            "acks": acks, "beta": beta, "reno": reno, "buffer": buffer, "nice": nice, "threshold": threshold,
        }  # fmt: skip
        least = max(0.0, 1 - bound(Path(MU, TAU, buffer), reno, threshold / 100) - ROUGH)
        why = OVER.get(f"{acks} {reno}/{nice}/{buffer}/{threshold / 100}", "")
        bars.append(Bar(says, "foreground", cell, cell | {"nice": 0}, minimum=least, holds=not why, reason=why))
    return bars


def breaks_down(acks: str, reno: int) -> Bar:
    """So many Reno flows on the shortest buffer."""
    cell: Cell = {"acks": acks, "beta": 0, "reno": reno, "buffer": BUFFERS[0], "nice": 16, "threshold": 10}
    says = f"ACKs {acks}: {reno} Reno flows on {BUFFERS[0]} packets lose half of their throughput"
    return Bar(says, "foreground", cell, cell | {"nice": 0}, maximum=LOST, holds=False, reason=SMALL)


EXPERIMENTS["nice-theorem1"] = Experiment(
    title="TCP Nice, theorem 1: Reno's lost throughput against the buffer",
    claim="I <= 4 m exp(-B (1-t) gamma / m) / ((mu tau + B) gamma): the interference falls exponentially with the "
    "buffer, whatever the number of Nice flows.",
    differs="Long Reno flows at 4 Mbit/s, 100 ms, 512-byte packets. The model's flows are synchronised fluids with "
    "beta = 0; the lab's are Linux flows with SACK, with beta = 0 and 3, with delayed ACKs, which grow half as fast, "
    "and with one for each segment. Values below 1e-5 are drawn there.",
    sweep={
        "acks": tuple(ACKS), "beta": (0, 3), "reno": (*RENOS, CLOSE), "buffer": BUFFERS, "nice": (0, *NICES, MANY),
        "threshold": THRESHOLDS,
    },
    exists=exists,
    scenario=long_flows,
    figures=[
        Figure("buffer", "interference", "line", "buffer, packets", "Reno's throughput lost", False, True, "beta")
    ],
    derive=with_theory,
    seeds=3,
    pinned={"foreground": 0.05},
    bars=[
        Bar("a buffer of 2 BDP: 16 Nice flows cost 1 Reno flow next to nothing", "foreground",
            {"acks": "delayed", "beta": 3, "reno": 1, "buffer": 196, "nice": 16, "threshold": 10},
            {"acks": "delayed", "beta": 3, "reno": 1, "buffer": 196, "nice": 0, "threshold": 10}, minimum=0.95),
        *at_most_the_bound("delayed", 0),
        *at_most_the_bound("each", 0),
        *at_most_the_bound("each below two", 0),
        *(breaks_down(acks, reno) for acks in ("delayed", "each") for reno in (RENOS[-1], CLOSE)),
    ],
)  # fmt: skip
