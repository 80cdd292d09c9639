# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's figures (research report 474): their bars, tolerances and common words."""

from collections.abc import Callable, Mapping, Sequence

from experiments.vulture.world.curves import windows
from experiments.vulture.world.scenarios import beside_steady, switched
from netnice_lab.model.experiment import Bar, Experiment, Figure, Table, Timeline, Value
from netnice_lab.model.scenario import Scenario

USE = {1: 0.16, 3: 0.60, 5: 0.75, 10: 0.85, 30: 0.92}
SHARE = {1: 0.10, 3: 0.06, 5: 0.05, 10: 0.04, 30: 0.03}
"""Of the off and the on periods, at least and at most, by their length in seconds: the bars of table 1."""
LATE = (
    "acknowledged in the on period are also the window that came just before it and the one granted just before it: "
    "160 segments of 82 each, which alone are .07 at 3 s and .04 at 5"
)
SHORT = (
    "its bars exclude each other: to use .16 takes windows of which two, granted before, are more than .10 of a second"
)
PINNED = {
    "use": 0.05,
    "share": 0.10,
    "found": 0.10,
    "filled": 0.03,
    "foreground_got": 0.02,
    "rtt_added": 0.15,
    "rtt_before": 0.02,
    "rtt_beside": 0.02,
    "rtt_after": 0.02,
    "taken": 0.02,
    "estimate": 0.05,
    "estimate_follows": 0.05,
    "background_fairness": 0.02,
    "background": 0.05,
    "background_got": 0.10,
}
"""How far a pinned number may move, as a part of it."""
REPRODUCED = 0.10
"""How far from the paper's number the faithful core may be."""
FAITHFUL = "vulture_jiffies"
RECEIVERS = ("tide", FAITHFUL, "vulture", "rledbat")
BESIDE: Mapping[str, Sequence[Value]] = {"receiver": RECEIVERS, "sender": ("cubic",)}
RUNS = 10
"""Of the faithful core a number, as in the paper: it is chaotic, and one run may be a lucky one."""
NOISE = (
    "{seeds} runs have {mean} ± {half}; its mode is the sign of a noisy sum and hangs on a jitter that the report does "
    "not state (vulture-jitter, and the head of the core)"
)
DIFFERS = (
    "The propagation delay lies on the way of the ACKs; the paper's 9.41 Mbit/s of goodput are 9.56 here (no preamble "
    "on a virtual wire); arrivals are up to 0.25 ms early or late; Linux 6.12 instead of 4.12; ten runs, as there, of "
    "the faithful core only, one of each other."
)


def faithful(
    says: str, metric: str, paper: float, cell: Mapping[str, Value], holds: bool = True, reason: str = ""
) -> Bar:
    """The paper's number, held against the faithful core."""
    return Bar(
        f"faithful, {says}: the paper's {paper:g}",
        metric,
        {"receiver": FAITHFUL, **cell},
        minimum=paper * (1 - REPRODUCED),
        maximum=paper * (1 + REPRODUCED),
        holds=holds,
        reason=reason,
    )


def report_figure(
    *,
    title: str,
    claim: str,
    figures: Sequence[Figure],
    pinned: Sequence[str],
    bars: Sequence[Bar],
    scenario: Callable[..., Scenario] = beside_steady,
    sweep: Mapping[str, Sequence[Value]] = BESIDE,
    timelines: Sequence[Timeline] = (),
    tables: Sequence[Table] = (),
    quick: Mapping[str, Sequence[Value]] | None = None,
    seeds: int = 1,
    more_seeds: Sequence[tuple[Mapping[str, Value], int]] = (),
    differs: str = "",
) -> Experiment:
    """A figure of the report; unless it says otherwise, beside the steady foreground.

    `pinned`: metrics, with the tolerances of PINNED. `differs`: what does so beyond all other figures.
    """
    return Experiment(
        title=title,
        claim=claim,
        differs=f"{DIFFERS} {differs}".rstrip(),
        sweep=sweep,
        scenario=scenario,
        figures=figures,
        timelines=timelines,
        tables=tables,
        seeds=seeds,
        more_seeds=[({"receiver": FAITHFUL}, RUNS), *more_seeds],
        quick=quick or {},
        pinned={metric: PINNED[metric] for metric in pinned},
        bars=bars,
    )


def estimates(figure: int, sender: str) -> Experiment:
    """Figures 11 and 12: one flow alone, background in the middle of its life, and the estimate of its window."""
    receivers = ("tide", FAITHFUL)
    return report_figure(
        title=f"Vulture, figure {figure}: the estimate of the window of a {sender} sender",
        claim="The cwnd estimates can keep up the change of the sender side cwnd although a little bit less than the "
        "real values; the algorithm actually estimates rwnd when the flow is running in LBE mode.",
        differs="The stamps tick in 1 ms instead of 4 ms, so that less of the window goes unseen.",
        sweep={"receiver": receivers, "sender": (sender,)},
        scenario=switched,
        figures=[
            Figure("receiver", "estimate", "sender", "receiver", "estimate, of the sender's window"),
            Figure("receiver", "estimate_held", "sender", "receiver", "estimate, of the advertised window"),
        ],
        timelines=[Timeline({"receiver": name}, "segments", windows) for name in receivers],
        pinned=("estimate", "estimate_follows"),
        bars=[
            Bar(f"{name}: {says}", metric, {"receiver": name}, minimum=least, maximum=most)
            for name in receivers
            for says, metric, least, most in (
                ("a little less than the window", "estimate", 0.90, 1.01),
                ("keeps up with it", "estimate_follows", 0.90, None),
                ("as background, what is advertised", "estimate_held", 0.90, 1.10),
            )
        ],
    )
