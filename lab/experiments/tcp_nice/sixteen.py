# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice's headline, 16 flows at S = 1, with a confidence interval; and what its share of the throughput hangs on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.tcp_nice.section4 import DEMAND, PAPER_DIFFERS, paper
from netnice_lab.judgement.misses import EDGE
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import FOREGROUND_TOS, Bulk

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}

PRIORITY = {"protocol": "priority"}
LATE = "a higher threshold lets the background keep a fifth of the buffer, or 28 %, and documents wait behind it"
SHY = (
    "a document comes every 40 ms, less than half a round trip: the background halves about as often as it "
    "grows. Were the paper's 50 ms the whole round trip, its t = 0.1 would have .60 (experiment nice-share); a looser "
    "threshold trades latency for it"
)
SIXTEEN = "a document comes every 40 ms: sixteen uploads rarely have six clear rounds in a row, and do not probe"
EXPERIMENTS["nice-sixteen"] = Experiment(
    title="16 background flows, S = 1: Nice against router priority over 10 seeds",
    claim="Nice's document latency is less than 1.10 times that of router priority, and it takes more than .70 of the "
    "background throughput that router priority takes (read off figures 3 and 4).",
    differs=PAPER_DIFFERS,
    sweep={"protocol": ("none", "priority", "nice-0.1", "nice-0.2", "netnice"), "flows": (16,)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed),
    figures=[Figure("flows", "latency", "protocol", "background flows", "document latency, ms")],
    seeds=10,
    pinned={"latency": 0.05, "latency_geometric": 0.05, "background": 0.05},
    bars=[
        Bar("t = 0.1: latency over priority's", "latency", {"protocol": "nice-0.1"}, PRIORITY, maximum=1.10),
        Bar("nice-0.2: latency over priority's", "latency", {"protocol": "nice-0.2"}, PRIORITY, maximum=1.10,
            holds=False, reason=LATE),
        Bar("netnice: latency over priority's", "latency", {"protocol": "netnice"}, PRIORITY, maximum=1.10),
        Bar("t = 0.1: background over priority's", "background", {"protocol": "nice-0.1"}, PRIORITY, minimum=0.70,
            holds=False, reason=SHY),
        Bar("t = 0.1: a significant part of priority's background", "background", {"protocol": "nice-0.1"}, PRIORITY,
            minimum=0.50),
        Bar("priority: latency over that without a background", "latency", PRIORITY, {"protocol": "none"},
            maximum=1.02),
        Bar("nice-0.2: background over priority's", "background", {"protocol": "nice-0.2"}, PRIORITY, minimum=0.70),
        Bar("netnice: background over priority's", "background", {"protocol": "netnice"}, PRIORITY, minimum=0.70,
            holds=False, reason=SIXTEEN),
    ],
)  # fmt: skip

# Conditions that the paper leaves open, one at a time.
SHORT = "half the round trip brings it to .60 and .65: a window comes back by one segment a round trip still"
HALF = {"rtt": 50_000}
CONDITIONS = {
    "usual": {},
    "no foreground": {},
    "smooth foreground": {},
    "no delayed ACKs": {"quick_acks": True},
    "first window 1": {"first_window": 1},
    "one connection a client": {"persistent": True},
    "documents 2.5 times as large": {"browsing": (("think", 3.0), ("gap", 0.2))},
    "buffer of 2 BDP": {"buffer": 2.0},
    "50 ms": HALF,
    "50 ms and one connection a client": HALF | {"persistent": True},
    "50 ms and a demand of 4 Mbit/s": HALF | {"demand": 4_000_000},
}
SMOOTH = Bulk("www", "home", 12, "reno", (0, 3), rate=int(0.9 * DEMAND / 12), tos=FOREGROUND_TOS, group="foreground")
"""As many paced flows as there are clients, together the mean demand."""
ROUND = (
    "a window comes back by one segment a round trip, and the round trip is 100 ms. Without documents Nice has five "
    "sixths: its 16 flows' own queue passes the threshold; the documents' bursts cost the rest"
)
NEAR = "over 10 seeds 1.110 ± .026 at a share of .707 ± .020; with a demand of 4 Mbit/s 1.095 ± .020 at .696 ± .016"


def scenario(protocol: str, condition: str, seed: int) -> Scenario:
    """Section 4.1 at 16 flows and S = 1 with one thing changed."""
    usual = paper(protocol, seed=seed, **CONDITIONS[condition])  # type: ignore[arg-type]  # by name
    foreground = {"no foreground": (), "smooth foreground": (SMOOTH,)}.get(condition, usual.traffic[:1])
    return replace(usual, traffic=(*foreground, *usual.traffic[1:]))


def ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """Nice's latency and throughput as multiples of router priority's, mean over the seeds."""
    means = frame.groupby(["condition", "protocol"], sort=False)[["latency", "background"]].mean()
    ideal, nice = (means.xs(name, level="protocol") for name in ("priority", "nice-0.1"))
    return (nice / ideal).rename(columns={"latency": "slowdown", "background": "share"}).reset_index()


def bar(condition: str, metric: str, low: float | None, high: float | None, reason: str = "") -> Bar:
    """Of Nice as a multiple of router priority; with a reason it is the paper's and not met."""
    nice, ideal = ({"protocol": name, "condition": condition} for name in ("nice-0.1", "priority"))
    return Bar(f"{condition}: {metric} over priority's", metric, nice, ideal, low, high, not reason, reason)


EXPERIMENTS["nice-share"] = Experiment(
    title="16 flows, S = 1: Nice beside router priority, one condition changed at a time",
    claim="16 Nice flows slow down the documents by less than 10 % and reap over 70 % of the spare bandwidth; the "
    "propagation delay is set to 50 ms (each way, or both?).",
    differs=PAPER_DIFFERS + " Elsewhere those 50 ms are each way; here also the round trip. The demand, the clients' "
    "connections and the receivers' ACKs are not stated either. About twenty were tried, alone and together; "
    "those left out changed less.",
    sweep={"protocol": ("priority", "nice-0.1"), "condition": tuple(CONDITIONS)},
    scenario=scenario,
    figures=[Figure("share", "slowdown", "condition", "of priority's background", "latency over priority's")],
    derive=ratios,
    seeds=4,
    quick={"condition": ("usual",)},
    bars=[
        *(
            bar(name, "background", 0.70, None, ROUND)
            for name in CONDITIONS
            if not name.startswith(("50 ms", "no foreground", "smooth"))
        ),
        *(bar(name, "background", 0.75, 0.95) for name in ("no foreground", "smooth foreground")),
        *(bar(name, "background", 0.70, None, SHORT) for name in CONDITIONS if name.startswith("50 ms")),
        bar("50 ms", "latency", None, 1.10),
        bar("50 ms and one connection a client", "latency", None, 1.10, NEAR),
        bar("50 ms and a demand of 4 Mbit/s", "latency", None, 1.10),
        bar("usual", "latency", None, 1.10, EDGE),
    ],
)
