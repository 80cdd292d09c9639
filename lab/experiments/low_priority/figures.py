# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figures 1 to 6: each flavour alone, who yields to whom, a swarm behind a slow line."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from experiments.low_priority import access
from experiments.low_priority.access import BEST_EFFORT, FLAVOURS, JITTER, LEVELS, LINKS, WIFI, bulk, scenario
from netnice_lab.judgement.misses import EDGE
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}

EXPERIMENTS["lbe-fig1"] = Experiment(
    title="Each flavour alone on a Wi-Fi-like link: rate and queue",
    claim="Delay based flavours such as Vegas and Nice introduce the lowest additional queueing delay. TCP-LP, though "
    "delay based, is less effective in limiting queueing delay.",
    differs="Rates and queues are means over 30 s, beside the curves. The paper's link was a real one.",
    sweep={"protocol": FLAVOURS, "link": ("wifi",)},
    scenario=lambda protocol, link, seed: access.alone(protocol, link, seed),
    figures=[
        Figure("first", "queue", "protocol", "rate, Mbit/s", "queue, bytes", False, True),
    ],
    timelines=[course for name in FLAVOURS for course in over_time.courses({"protocol": name}, 0.5)],
    seeds=2,
    quick={"protocol": ("netnice",)},
    pinned={"first": 0.05, "queue": 0.10},
    bars=[
        Bar(f"{delay} queues less than {loss}", "queue", {"protocol": delay}, {"protocol": loss}, maximum=0.9)
        for delay in ("vegas-1-3", "netnice", "nnledbatpp") for loss in ("cubic", "reno", "lp")
    ] + [
        Bar(f"{level} uses what Nice does", "first", {"protocol": level}, {"protocol": "netnice"}, minimum=0.8,
            holds=level == "netnice1", reason=JITTER)
        for level in ("netnice1", "netnice2")
    ],
)  # fmt: skip

EXPERIMENTS["lbe-fig2"] = Experiment(
    title="A flavour joins a backlogged Nice on a Wi-Fi-like link: the newcomer's share",
    claim="Nice shares equally the traffic with Vegas, but is otherwise lower priority than any other protocol.",
    differs="A share is the mean over the 20 s that begin 5 s after the newcomer. netnice1 and netnice2 have "
    "nothing here even alone (lbe-fig1).",
    sweep={"protocol": FLAVOURS, "link": ("wifi",)},
    scenario=lambda protocol, link, seed: scenario(
        WIFI, (bulk("second", "netnice", (0.0, 0.5)), bulk("first", protocol, (10.0, 10.5))),
        (protocol, "netnice"), 35.0, 15.0, seed,
    ),
    figures=[Figure("protocol", "first_share", "link", "", "the newcomer's part of both goodputs")],
    seeds=3,
    pinned={"first_share": 0.10, "total": 0.05},
    quick={"protocol": ("cubic",)},
    bars=[
        Bar(f"Nice is below {name}", "first_share", {"protocol": name}, minimum=0.75,
            holds=name != "nnledbatpp", reason=EDGE if name == "nnledbatpp" else "")
        for name in ("cubic", "reno", "bbr", "nnledbat", "nnledbatpp", "lp")
    ] + [
        Bar("Nice shares equally with Vegas", "first_share", {"protocol": "vegas-1-3"}, minimum=0.4, maximum=0.6),
        Bar("Nice shares equally with Nice", "first_share", {"protocol": "netnice"}, minimum=0.4, maximum=0.6),
    ],
)  # fmt: skip

# Every flavour against every other. Figures 3 and 4 are the same runs.
LINK = "wifi"
PAIRS = tuple(f"{first}:{second}" for first, second in combinations_with_replacement(FLAVOURS, 2))
"""Written first:second, in the order of FLAVOURS: best effort comes first. Each also meets itself."""


def meeting(pair: str, seed: int) -> Scenario:
    """One flow each."""
    first, second = pair.split(":")
    return access.pair(first, second, LINK, seed)


def points(frame: pd.DataFrame) -> pd.DataFrame:
    """Both goodputs of every run as parts of what the link could carry, each pair both ways round."""
    import pandas as pd

    names = frame.pair.str.split(":", expand=True)
    carried = pd.Series([access.pair_capacity(LINK, int(seed)) for seed in frame.seed], frame.index)
    one = pd.DataFrame(
        {
            "first": names[0],
            "second": names[1],
            "first_part": frame["first"] / carried,
            "second_part": frame["second"] / carried,
        }
    )
    other = one.rename(
        columns={"first": "second", "second": "first", "first_part": "second_part", "second_part": "first_part"}
    )
    return pd.concat([one, other], ignore_index=True)


def ranking(frame: pd.DataFrame) -> pd.DataFrame:
    """For every flavour the part of all its runs in which it has more than the other, by the other.

    A flavour against itself does not count.
    """
    import pandas as pd

    runs = points(frame)
    runs = runs[runs["first"] != runs["second"]].copy()
    runs["wins"] = (runs.first_part > runs.second_part).astype(float)
    rows = runs.groupby(["first", "second"], sort=False).wins.sum().reset_index()
    rows["part"] = rows.wins / rows["first"].map(runs.groupby("first").size())
    order = rows.groupby("first").part.sum().sort_values(kind="stable").index
    return pd.concat([rows[rows["first"] == name] for name in order], ignore_index=True)


EXPERIMENTS["lbe-fig3"] = Experiment(
    title="Low-priority TCP in Linux, figure 3: one flow each, Wi-Fi-like link, 20 random starts",
    claim="While Nice and Vegas are lower priority than Cubic and Reno, they are fair among each other. LP is more "
    "aggressive than Nice and Vegas, possibly as aggressive as NewReno and even more aggressive than Cubic.",
    differs="Both flows start within five seconds and are measured over the twenty after them. The kernel's TCP-LP is "
    "`lp`, ours `nnlp`. Parts of what the varying link could carry in the same seconds.",
    sweep={"pair": PAIRS},
    scenario=meeting,
    figures=[Figure("second", "first_part", "first", "column's part of the link", "row's part", kind="matrix")],
    derive=points,
    seeds=20,
    quick={"pair": ("cubic:netnice", "bbr:netnice")},
    pinned={"first_share": 0.05, "wins": 0.10},
    bars=[
        Bar("Nice and Vegas are fair", "first_share", {"pair": "vegas-1-3:netnice"}, minimum=0.4, maximum=0.6),
        Bar("all-Vegas is slightly more efficient than all-Nice", "total", {"pair": "vegas-1-3:vegas-1-3"},
            {"pair": "netnice:netnice"}, minimum=1.0),
    ],
)  # fmt: skip

ABOVE = {("reno", "nnledbat"): "in one of 20 runs it is not; why was not examined"}
EXPERIMENTS["lbe-fig4"] = Experiment(
    title="Low-priority TCP in Linux, figure 4: in which part of its runs a flavour has more than the other",
    claim="Nice achieves a higher throughput than others only about 15 % of the times, against Vegas and TCP-LP; it "
    "was never found to be more aggressive than Cubic or NewReno. TCP-LP is actually more aggressive than Vegas.",
    differs="The runs of lbe-fig3. Eleven flavours share the ranking, five did in the report: among those Nice wins "
    "none of its runs here, Vegas 25 %, TCP-LP 66 %, NewReno 71 %, CUBIC 88 %.",
    sweep={"pair": PAIRS},
    scenario=meeting,
    figures=[Figure("first", "part", "second", "", "part of its runs that it wins", kind="stack")],
    derive=ranking,
    seeds=20,
    quick={"pair": ("cubic:netnice", "vegas-1-3:netnice")},
    pinned={"wins": 0.10},
    bars=[
        Bar(f"{low} is below {best}", "wins", {"pair": f"{best}:{low}"}, minimum=1.0,
            holds=(best, low) not in ABOVE, reason=ABOVE.get((best, low), ""))
        for best in ("cubic", "reno") for low in ("vegas-1-3", "nnledbat", "nnledbatpp", "nnlp")
    ] + [
        Bar(f"the kernel's TCP-LP is above {low}", "wins", {"pair": f"{low}:lp"}, maximum=0.0)
        for low in ("vegas-1-3", "netnice")
    ] + [
        Bar("the kernel's TCP-LP is above CUBIC more often than not", "wins", {"pair": "cubic:lp"}, maximum=0.5,
            holds=False, reason="Linux 6.12's CUBIC has more in 16 of 20 runs, and 53 % of the goodput; Reno in 11"),
    ],
)  # fmt: skip

# Our family against best effort, in every repetition: the report's Wi-Fi, and a steady link without jitter.
EXPERIMENTS["lbe-ranking"] = Experiment(
    title="Best effort against our family, one flow each, 20 random starts",
    claim="Nice was never found to be more aggressive than Cubic or NewReno.",
    differs="On the Wi-Fi these are runs of lbe-fig3; there netnice1 and netnice2 have next to nothing even alone "
    "(lbe-fig1). The steady link is 10 Mbit/s, 40 ms, 2 BDP of buffer.",
    sweep={"link": ("wifi", "plain"), "best": BEST_EFFORT, "low": LEVELS},
    scenario=lambda link, best, low, seed: access.pair(best, low, link, seed),
    figures=[Figure("low", "first_share", "best", "", "best effort's part of both goodputs", panel="link")],
    seeds=20,
    quick={"link": ("plain",), "best": ("cubic", "bbr"), "low": ("netnice",)},
    pinned={"first_share": 0.02, "wins": 0.02},
    bars=[
        Bar(f"{link}: {low} is below {best} in every repetition", "wins", {"link": link, "best": best, "low": low},
            minimum=1.0)
        for link in ("wifi", "plain") for low in LEVELS for best in BEST_EFFORT
    ],
)  # fmt: skip

# Data rates of two equal flows on three kinds of access.
SLOW = {
    ("adsl", "netnice1"): "in one of two runs both stay below one segment, where siblings used to raise each other",
    ("lan", "nnledbatpp"): "its gain is 1/12 on a 10 ms path by the draft: it takes minutes to fill 1 Gbit/s, and a "
    "tenth for slowdowns",
    ("adsl", "netnice2"): "two flows' pairs meet, each 24 ms of a 50 ms path; one flow by itself has 95 %",
    ("wifi", "netnice1"): JITTER,
    ("wifi", "netnice2"): JITTER,
}
EXPERIMENTS["lbe-fig5"] = Experiment(
    title="Two flows of one flavour: 1 Gbit/s, Wi-Fi-like, 1 Mbit/s ADSL with a deep buffer",
    claim="For low capacities differences are less remarkable; performance discrepancies start to appear under "
    "Wi-Fi and are more evident at 1 Gbit/s, where Nice has less than half the throughput of the others.",
    differs="Paths to two public servers there, one path a kind of access here.",
    sweep={"link": ("lan", "wifi", "adsl"), "protocol": FLAVOURS},
    scenario=lambda link, protocol, seed: access.alone(protocol, link, seed, flows=2, duration=20.0),
    figures=[
        Figure("link", "first", "protocol", "access", "both flows, Mbit/s", False, True),
        Figure("link", "first_rtt", "protocol", "access", "RTT at the end, ms", False, True),
    ],
    seeds=2,
    quick={"link": ("adsl",), "protocol": ("cubic", "netnice", "netnice1")},
    pinned={"first": 0.05},
    bars=[
        Bar(f"{name} fills {link}", "first", {"link": link, "protocol": name}, {"link": link, "protocol": "cubic"},
            minimum=0.85, holds=(link, name) not in SLOW, reason=SLOW.get((link, name), ""))
        for link in ("lan", "wifi", "adsl") for name in ("vegas-1-3", *LEVELS, "nnledbat", "nnledbatpp")
    ],
)  # fmt: skip

# Queueing delay under a BitTorrent-like swarm.
UNCHOKED, CHOKING = 4, 10.0
"""Peers served at a time, and seconds after which they change: BitTorrent's own numbers."""
ROUNDS = 12
MS = 125
"""Bytes of queue."""


def swarm(protocol: str) -> tuple[Bulk, ...]:
    """Every ten seconds, four fresh uploads."""
    return tuple(
        bulk("first", protocol, (turn * CHOKING, turn * CHOKING + 1.0), UNCHOKED, stop=(turn + 1) * CHOKING + 0.5)
        for turn in range(ROUNDS)
    )


EXPERIMENTS["lbe-fig6"] = Experiment(
    title="A swarm's upload through a 1 Mbit/s line with a second of buffer: the queue",
    claim="Nice keeps the median delay slightly above 250 ms, all other TCP flavours consistently above 500 ms.",
    differs="Four uploads of ten seconds each at a time instead of a BitTorrent client. 1,000 bytes of queue are 8 ms.",
    sweep={"protocol": FLAVOURS, "link": ("adsl",)},
    scenario=lambda protocol, link, seed: scenario(
        LINKS[link], swarm(protocol), (protocol,), ROUNDS * CHOKING, CHOKING, seed
    ),
    figures=[
        Figure("protocol", "queue_p50", "link", "", "median queue, bytes", False, True),
        Figure("protocol", "queue_p95", "link", "", "95th percentile of the queue, bytes", False, True),
    ],
    seeds=2,
    quick={"protocol": ("netnice", "netnice2")},
    pinned={"queue": 0.10, "queue_p50": 0.10, "queue_p95": 0.10},
    bars=[
        Bar(f"{name} keeps the median below 250 ms", "queue_p50", {"protocol": name}, maximum=250 * MS)
        for name in LEVELS
    ] + [
        Bar(f"{name} does not keep it below 500 ms", "queue_p50", {"protocol": name}, minimum=500 * MS)
        for name in ("cubic", "reno", "vegas-1-3", "lp")
    ],
)  # fmt: skip
