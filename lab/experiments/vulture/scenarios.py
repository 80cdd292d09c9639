# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The runs of the report's figures, and those beyond it."""

from functools import partial

from experiments.vulture.testbed import (
    AFTER,
    CAPACITY,
    END,
    JITTER,
    REVERSE,
    STAGGER,
    START,
    STEADY,
    STOP,
    Alone,
    Joined,
    OnOff,
    Rerouted,
    Steady,
    Switched,
    background,
    testbed,
)
from netnice_lab.model.protocols import protocol
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk, Change, Datagrams, Traffic


def beside_steady(
    receiver: str, sender: str = "cubic", seed: int = 1, lasting: float = END, drift: int = 0
) -> Scenario:
    """Figures 15 and 16: a foreground of 6 Mbit/s; the background from 45 s on, until 45 s before the end."""
    traffic = (STEADY, REVERSE, background(sender, START, lasting - AFTER))
    running = Receiver(receiver, values=drifting(drift))
    return Scenario(testbed(), traffic, lasting, 0.001, seed, receiver=running, sample=0.1, measure=Steady())


def switched(
    receiver: str, sender: str = "cubic", seed: int = 1, beside: bool = False, values: tuple[tuple[str, int], ...] = ()
) -> Scenario:
    """Figures 11 to 14 and 17: one flow, background only from 45 to 135 s of its life."""
    traffic = ((STEADY, REVERSE) if beside else ()) + (background(sender),)
    chosen = Receiver(receiver, values=values, start=START, stop=STOP, own=beside)
    return Scenario(
        testbed(), traffic, END, 0.001, seed, receiver=chosen, sample=0.1, measure=Switched() if beside else Alone()
    )


switched_beside = partial(switched, beside=True)
"""Figures 13 and 14: the flow that is switched is beside the foreground of 6 Mbit/s."""


def drifting(parts: int) -> tuple[tuple[str, int], ...]:
    """The receiver's clock runs fast by so many parts per million, so that every queue seems to grow."""
    return (("skew", parts),) if parts else ()


def on_off(
    receiver: str,
    period: int,
    sender: str = "cubic",
    seed: int = 1,
    jitter: int = JITTER,
    lasting: int = 180,
    drift: int = 0,
    rate: int = 0,
    values: tuple[tuple[str, int], ...] = (),
) -> Scenario:
    """Figures 9, 18 and 19, table 1: a foreground that sends for `period` seconds and is silent for as many.

    `rate`: a limit on it in bit/s of payload (0: none).
    """
    pulsing = Bulk(
        "server", "home", 1, "cubic", start=(5.0, 5.001), rate=rate, on=period, off=period, group="foreground"
    )
    duration = 5.0 + max(lasting, 6 * period) // (2 * period) * 2 * period
    traffic: tuple[Bulk, ...] = (pulsing, REVERSE, background(sender))
    if receiver == "absent":
        traffic = (pulsing, REVERSE)
    return Scenario(
        testbed(jitter), traffic, duration, 0.001, seed,
        receiver=Receiver("none" if receiver == "absent" else receiver, values=(*drifting(drift), *values)),
        sample=min(0.1, period / 10),
        measure=OnOff(period, rate / 1e6 if rate else CAPACITY),
    )  # fmt: skip


def fairness(receiver: str, flows: int, seed: int = 1) -> Scenario:
    """Figure 20, table 2: background flows only, one every 20 seconds, then three minutes."""
    traffic = tuple(background("cubic", STAGGER * i) for i in range(flows))
    begin = STAGGER * flows
    return Scenario(testbed(), traffic, begin + END, begin, seed, receiver=Receiver(receiver))


def rerouted(receiver: str, longer: int, seed: int = 1) -> Scenario:
    """The background alone; from 45 to 135 s its data take `longer` microseconds more."""

    def way(at: float, us: int) -> Change:
        return Change(at, "home", f"qdisc change dev home-1-in root netem delay {us}us {JITTER}us limit 1000000")

    traffic = (background("cubic"), way(START, longer), way(STOP, 0))
    return Scenario(testbed(), traffic, END, 0.001, seed, receiver=Receiver(receiver), sample=0.1, measure=Rerouted())


def joined(receiver: str, stranger: str, sender: str, seed: int = 1) -> Scenario:
    """The background, by `sender`; from 45 to 135 s beside it a stranger: a protocol, or `udp-` and its Mbit/s."""
    if stranger.startswith("udp-"):
        rate = int(float(stranger.removeprefix("udp-")) * 1e6)
        joins: Traffic = Datagrams("server", "home", rate, START, STOP)
        knobs: tuple[tuple[str, str], ...] = ()
    else:
        flavour = protocol(stranger)
        name, knobs = flavour.congestion_control, flavour.knobs
        joins = Bulk("server", "home", 1, name, start=(START, START), stop=STOP, group="foreground")
    traffic = (joins,) if receiver == "absent" else (joins, background(sender))
    running = Receiver("none" if receiver == "absent" else receiver)
    return Scenario(
        testbed(), traffic, STOP, 0.001, seed, knobs=knobs, receiver=running, sample=0.1, measure=Joined()
    )  # fmt: skip
