# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Low-priority TCP in Linux, figures 1 to 4: each flavour alone, and in pairs. Figures 5 and 6: rates.py."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from experiments.low_priority import access
from experiments.low_priority.access import (
    AS_RENO,
    BEST_EFFORT,
    FLAVOURS,
    HALVES,
    JITTER,
    LEVELS,
    MS,
    NICE,
    REPORTED,
    WIFI,
    bulk,
    scenario,
)
from netnice_lab.measures import over_time
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}

ALONE = ("wifi", "adsl", "bloated")
EXPERIMENTS["lbe-fig1"] = Experiment(
    title="Each flavour alone on a Wi-Fi-like link and on lines with one and four seconds of buffer: rate and queue",
    claim="Delay based flavours such as Vegas and Nice introduce the lowest additional queueing delay. TCP-LP, though "
    "delay based, is less effective in limiting queueing delay. On ADSL and a limited loopback it is alike, with "
    "queueing delays of up to several seconds.",
    differs="Rates and queues are means over 30 s, beside the curves. The paper's links were real ones.",
    sweep={"protocol": FLAVOURS, "link": ALONE},
    scenario=lambda protocol, link, seed: access.alone(protocol, link, seed),
    figures=[
        Figure("first", "queue", "protocol", "rate, Mbit/s", "queue, bytes", False, True, panel="link"),
    ],
    timelines=[course for name in FLAVOURS for course in over_time.courses({"protocol": name, "link": "wifi"}, 0.5)],
    seeds=2,
    quick={"protocol": ("netnice",), "link": ("wifi",)},
    pinned={"first": 0.05, "queue": 0.10},
    bars=[
        Bar(f"{delay} queues less than {loss}", "queue", {"protocol": delay, "link": "wifi"},
            {"protocol": loss, "link": "wifi"}, maximum=0.9)
        for delay in ("vegas-1-3", NICE, "netnice", "nnledbatpp") for loss in ("cubic", "reno", "lp")
    ] + [
        Bar(f"{link}: {delay} queues less than cubic", "queue", {"protocol": delay, "link": link},
            {"protocol": "cubic", "link": link}, maximum=0.9)
        for link in ("adsl", "bloated") for delay in ("vegas-1-3", NICE)
    ] + [
        Bar("bloated: cubic queues for seconds", "queue", {"protocol": "cubic", "link": "bloated"}, minimum=2000 * MS),
    ] + [
        Bar(f"{level} uses what netnice does", "first", {"protocol": level, "link": "wifi"},
            {"protocol": "netnice", "link": "wifi"}, minimum=0.8, holds=level == "netnice1", reason=JITTER)
        for level in ("netnice1", "netnice2")
    ],
    tables=[Table("alone", ("protocol",), "link", [Number("first"), Number("queue", 0)])],
)  # fmt: skip

EXPERIMENTS["lbe-fig2"] = Experiment(
    title="A flavour joins a backlogged flow, the report's NICE or netnice, on a Wi-Fi-like link: the newcomer's share",
    claim="Nice shares equally the traffic with Vegas, but is otherwise lower priority than any other protocol.",
    differs="A share is the mean over the 20 s that begin 5 s after the newcomer: lbe-course is the report's figure. "
    "netnice1 and netnice2 have nothing here even alone (lbe-fig1). Vegas has .9 beside the best-effort flavours: .95 "
    "is asked for beside those of the report, so that NICE and Vegas differ.",
    sweep={"there": (NICE, "netnice"), "protocol": FLAVOURS},
    scenario=lambda there, protocol, seed: scenario(
        WIFI, (bulk("second", there, (0.0, 0.5)), bulk("first", protocol, (10.0, 10.5))),
        (protocol, there), 35.0, 15.0, seed,
    ),
    figures=[Figure("protocol", "first_share", "there", "", "the newcomer's part of both goodputs")],
    seeds=3,
    pinned={"first_share": 0.10, "total": 0.05},
    quick={"protocol": ("cubic",)},
    bars=[
        Bar(f"{there} is below {name}", "first_share", {"there": there, "protocol": name},
            minimum=0.95 if there == NICE and name in REPORTED else 0.75)
        for there in (NICE, "netnice") for name in ("cubic", "reno", "bbr", "nnledbat", "nnledbatpp", "lp")
    ] + [
        Bar(f"{there} shares equally with {name}", "first_share", {"there": there, "protocol": name},
            minimum=0.4, maximum=0.6, holds=(there, name) != (NICE, "vegas-1-3"),
            reason=HALVES if (there, name) == (NICE, "vegas-1-3") else "")
        for there in (NICE, "netnice") for name in ("vegas-1-3", there)
    ],
    tables=[Table("newcomer", ("protocol",), "there", [Number("first_share")])],
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


WITHIN = {"cubic": f"Jain's index of two is {{mean}} of what two of CUBIC have: {AS_RENO}"}
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
        bar
        for name in (NICE, "netnice")
        for bar in (
            Bar(f"{name} and Vegas are fair", "first_share", {"pair": f"vegas-1-3:{name}"}, minimum=0.4, maximum=0.6,
                holds=name != NICE, reason=HALVES if name == NICE else ""),
            Bar(f"all-Vegas is slightly more efficient than all-{name}", "total", {"pair": "vegas-1-3:vegas-1-3"},
                {"pair": f"{name}:{name}"}, minimum=1.0, maximum=1.1, holds=name != NICE,
                reason="{mean}: two of NICE halve at each fall of the link's rate" if name == NICE else ""),
        )
    ] + [
        Bar(f"the kernel's TCP-LP has more than {low}", "first_share", {"pair": f"{low}:lp"}, maximum=0.5)
        for low in ("vegas-1-3", NICE)
    ] + [
        Bar("the kernel's TCP-LP has as much as NewReno", "first_share", {"pair": "reno:lp"}, minimum=0.4, maximum=0.6),
    ] + [
        Bar(f"two of the kernel's TCP-LP are less fair than two of {name}", "pair_fairness", {"pair": "lp:lp"},
            {"pair": f"{name}:{name}"}, maximum=1.0, holds=name not in WITHIN, reason=WITHIN.get(name, ""))
        for name in ("cubic", "reno", "vegas-1-3", NICE)
    ],
)  # fmt: skip

ABOVE = {("reno", "nnledbat"): "NewReno has more in {mean} of {seeds} runs; why not in all is not known"}
EXPERIMENTS["lbe-fig4"] = Experiment(
    title="Low-priority TCP in Linux, figure 4: in which part of its runs a flavour has more than the other",
    claim="Nice achieves a higher throughput than others only about 15 % of the times, against Vegas and TCP-LP; it "
    "was never found to be more aggressive than Cubic or NewReno. TCP-LP is actually more aggressive than Vegas.",
    differs="The runs of lbe-fig3. Twelve flavours share the ranking; docs/research/lowprio.md has the five.",
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
        for best in ("cubic", "reno") for low in ("vegas-1-3", NICE, "nnledbat", "nnledbatpp", "nnlp")
    ] + [
        Bar(f"the kernel's TCP-LP is above {low}", "wins", {"pair": f"{low}:lp"}, maximum=0.0)
        for low in ("vegas-1-3", "netnice")
    ] + [
        Bar("NewReno is above the kernel's TCP-LP in most runs, not in all", "wins", {"pair": "reno:lp"},
            minimum=0.5, maximum=0.95),
        Bar("the kernel's TCP-LP is above CUBIC more often than not", "wins", {"pair": "cubic:lp"}, maximum=0.5,
            holds=False, reason=f"CUBIC has more in {{mean}} of {{seeds}} runs, as it has over NewReno: {AS_RENO}"),
    ],
)  # fmt: skip

# How low the lowest two of the report's five are: each in 80 runs, 20 beside each of the others.
LOWEST = ("vegas-1-3", NICE)
BOTH = ("vegas-1-3", "lp")
"""The flavours over which the report's NICE won its 15 %, about equally."""
NO_RUN_OVER_LP = f"the others have more in {{mean}} of the runs: {AS_RENO}, over which NICE wins none"
EXPERIMENTS["lbe-fig4-nice"] = Experiment(
    title="Low-priority TCP in Linux, figure 4: NICE and Vegas beside the report's other flavours, 20 random starts",
    claim="Nice achieves a higher throughput than others only about 15 % of the times, split about equally among Vegas "
    "and TCP-LP. Nice has the lowest priority, then comes Vegas.",
    differs="Runs as those of lbe-fig3.",
    sweep={"other": REPORTED, "low": LOWEST},
    exists=lambda cell: cell["other"] != cell["low"],
    scenario=lambda other, low, seed: access.pair(other, low, LINK, seed),
    figures=[Figure("other", "wins", "low", "", "part of the runs in which the other has more")],
    seeds=20,
    quick={"other": ("cubic",)},
    pinned={"wins": 0.10, "first_share": 0.05},
    bars=[
        Bar("NICE has more in about 15 % of its runs", "wins", {"low": NICE}, minimum=0.80, maximum=0.90,
            holds=False, reason=NO_RUN_OVER_LP),
        Bar("NICE has more in no more of its runs than Vegas", "wins", {"low": NICE}, {"low": "vegas-1-3"},
            minimum=1.0),
    ] + [
        Bar(f"about half of what NICE wins is over {other}", "wins", {"other": other, "low": NICE}, minimum=0.6,
            maximum=0.8, holds=False, reason=NO_RUN_OVER_LP if other == "lp" else HALVES)
        for other in BOTH
    ] + [
        Bar(f"NICE is seldom above {other}", "wins", {"other": other, "low": NICE}, minimum=0.6) for other in BOTH
    ],
    tables=[Table("wins", ("low",), "other", [Number("wins")])],
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
    tables=[Table("levels", ("low", "link"), "best", [Number("wins"), Number("first_share")])],
)  # fmt: skip
