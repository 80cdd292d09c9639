# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the least window costs on slow links, beside documents and beside somebody's endless transfer.

It is physics. A receiver's only means is its window, and a window below a segment is none: the sender waits for more,
until its persist timer sends what fits, once in 0.2 s and more seldom (kernel-notes: 3 kB/s). With two segments delayed
ACKs keep pace, with one each waits for its own. The kernel rounds to its window scale: 1448 or 2896 bytes become 2 or
3 kB with a scale of 10. So the least that a download takes is a segment or two in each round trip, and of n segments
that path and queue hold, somebody's transfer loses one in n. Pauses below it, beside siblings, are TIDE's (tide.h).
"""

from dataclasses import replace

from experiments.frontier.world.paths import TODAY_DIFFERS, today
from experiments.vulture.world.measures import Floor
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk, Documents

RATES = (0.25, 0.5, 1.0, 2.0)
LEAST = {f"least-{n}": Receiver("rledbat", (("floor", n), ("initial", n), ("target", 100))) for n in (1, 2)}
"""Receivers that hold the least window of 1 or 2 segments: any queue is more than 0.1 ms."""
RECEIVERS = ("absent", "none", *LEAST, "tide", "vulture", "rledbat")
BUFFER = 24_000
"""Bytes: 16 full packets."""
RTT = 40.0
LONG = 240.0
"""Seconds: at 0.25 Mbit/s a document comes once a second."""
RARE = (
    "{mean}, where a sample of each segment had .98 and more: of rounds of one or two segments, an ACK's newest is "
    "often the only sample"
)
BULK = Bulk("www", "home", 1, "cubic", start=(0.0, 0.1), group="foreground")


def scenario(receiver: str, rate: float, beside: str, seed: int) -> Scenario:
    """40 ms; the download comes by CUBIC. `none`: its receiver does not yield. `absent`: there is no download."""
    yields = receiver not in ("absent", "none")
    buffer = BUFFER * 8 / (rate * 1e6 * RTT / 1e3)
    made = today("none" if receiver == "absent" else "cubic", rate, RTT, buffer, flows=1, seed=seed, duration=LONG)
    documents = [t for t in made.traffic if isinstance(t, Documents)]
    downloads = [replace(t, receiver=yields) for t in made.traffic if isinstance(t, Bulk)]
    return replace(
        made,
        traffic=(*(documents if beside == "documents" else [BULK]), *downloads),
        receiver=LEAST.get(receiver, Receiver(receiver)) if yields else None,
        sample=0.1,
        measure=Floor(),
    )


def at(receiver: str, rate: float, beside: str) -> dict[str, str | float]:
    """A cell."""
    return {"receiver": receiver, "rate": rate, "beside": beside}


def floor(rate: float) -> list[Bar]:
    """What the least window is and costs, and whether the receivers come down to it."""
    bulk, least, alone = (at(name, rate, "bulk") for name in ("tide", "least-1", "absent"))
    pages = [at(name, rate, "documents") for name in ("tide", "least-1", "absent")]
    link = f"{rate:g} Mbit/s"
    return [
        *(Bar(f"{link}, bulk: a window of {n} is {n} a round trip", "a_round", at(f"least-{n}", rate, "bulk"),
              maximum=1.2 * n) for n in (1, 2)),
        Bar(f"{link}, bulk: the least window leaves", "foreground", least, alone, minimum=0.90),
        Bar(f"{link}, bulk: TIDE comes down to it", "foreground", bulk, least, minimum=0.98,
            holds=rate > 0.5, reason=RARE),
        Bar(f"{link}, documents: the least window costs", "latency", pages[1], pages[2], maximum=1.30),
        Bar(f"{link}, documents: TIDE costs no more", "latency", pages[0], pages[1], maximum=1.10),
    ]  # fmt: skip


experiment = Experiment(
    title="Slow links: what the least window costs",
    claim="Not in the report. The least window is a segment or two a round trip, and is physics: with less the sender "
    "stalls. Of 17 segments that path and queue hold it takes one or two from a transfer.",
    differs=TODAY_DIFFERS,
    sweep={"receiver": RECEIVERS, "rate": RATES, "beside": ("documents", "bulk")},
    scenario=scenario,
    figures=[
        Figure("rate", "latency", "receiver", "Mbit/s", "document latency, ms", False, True),
        Figure("rate", "foreground", "receiver", "Mbit/s", "Mbit/s of the foreground", panel="beside"),
        Figure("rate", "a_round", "receiver", "Mbit/s", "segments a round trip of the download", panel="beside"),
    ],
    seeds=3,
    pinned={"foreground": 0.03, "background": 0.10, "a_round": 0.10},
    bars=[bar for rate in RATES for bar in floor(rate)],
)
