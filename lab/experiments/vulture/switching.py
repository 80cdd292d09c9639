# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's figures 11 to 17: the estimate of the sender's window, the switch, the impact on a foreground, alone."""

from collections.abc import Mapping

from experiments.vulture.report import (
    BOTH,
    FAITHFUL,
    KEPT,
    NOISE,
    RECEIVERS,
    RUNS,
    WITH_RLEDBAT,
    faithful,
    printed,
    report_figure,
)
from experiments.vulture.scenarios import switched, switched_beside
from experiments.vulture.testbed import CAPACITY, course, round_trips, windows
from netnice_lab.model.experiment import Bar, Experiment, Figure, Timeline, Value

EXPERIMENTS: dict[str, Experiment] = {}


def turbulence(cell: Mapping[str, Value]) -> list[Bar]:
    """The 10 s after the switch back are like those that follow."""
    said = " ".join(map(str, cell.values())) + ", " if cell else ""
    return [
        printed(
            f"{said}least goodput of a second after the switch back, of later ones", "turbulence_goodput", cell, 0.9
        ),
        printed(f"{said}largest RTT after the switch back, of later ones", "turbulence_rtt", cell, most=1.1),
    ]


COARSE = "{mean}: why it is above the window is not known; stamps of 1 ms instead of 4 leave less of it unseen"


def estimates(figure: int, sender: str) -> Experiment:
    """Figures 11 and 12: one flow alone, background in the middle of its life, and the estimate of its window."""
    return report_figure(
        title=f"Vulture, figure {figure}: the estimate of the window of a {sender} sender",
        claim="The cwnd estimates can keep up the change of the sender side cwnd although a little bit less than the "
        "real values; the algorithm actually estimates rwnd when the flow is running in LBE mode.",
        differs="The stamps tick in 1 ms instead of 4 ms, so that less of the window goes unseen.",
        sweep={"receiver": BOTH, "sender": (sender,)},
        scenario=switched,
        figures=[
            Figure("receiver", "estimate", "sender", "receiver", "estimate, of the sender's window"),
            Figure("receiver", "estimate_held", "sender", "receiver", "estimate, of the advertised window"),
        ],
        timelines=[Timeline({"receiver": name}, "segments", windows) for name in BOTH],
        pinned=("estimate", "estimate_follows"),
        bars=[
            Bar(f"{name}: {says}", metric, {"receiver": name}, minimum=least, maximum=most,
                holds=metric != "estimate", reason=COARSE if metric == "estimate" else "")
            for name in BOTH
            for says, metric, least, most in (
                ("a little less than the window", "estimate", 0.90, 1.0),
                ("keeps up with it", "estimate_follows", 0.90, None),
                ("as background, what is advertised", "estimate_held", 0.90, 1.10),
            )
        ],
    )  # fmt: skip


EXPERIMENTS["vulture-fig11"] = estimates(11, "cubic")

EXPERIMENTS["vulture-fig12"] = estimates(12, "reno")

MORE = "{seeds} runs have {mean} ± {half}: beside another flow the estimate is a segment more than the window in most"
FLOOR = (
    "{mean}: TIDE begins at its floor and comes back to the estimate. When it took that at once, a download that "
    "'netnice -p' made background had a tenth of 10 Mbit/s after 2.7 to 4.9 s beside another; so, after 1.0 to 2.3 s"
)
EXPERIMENTS["vulture-fig13"] = report_figure(
    title="Vulture, figure 13: the window at the switch",
    claim="When the second forward direction flow is just set into LBE mode (at time 45 seconds), its rwnd is set to "
    "cwnd estimate of that time, which is smaller than the cwnd maintained by the sender.",
    differs="The estimate is exact here: in units of 1 ms instead of 4, and nothing was just lost.",
    sweep={"receiver": BOTH, "sender": ("cubic",)},
    scenario=switched_beside,
    figures=[Figure("receiver", "taken", "sender", "receiver", "window at the switch, of the estimate")],
    timelines=[Timeline({"receiver": name}, "segments", windows) for name in BOTH],
    seeds=RUNS,
    pinned=("taken", "estimate"),
    bars=[
        Bar(f"{name}: {says}", metric, {"receiver": name}, None, least, most,
            holds=metric == "taken" and name != "tide", reason=FLOOR if metric == "taken" else MORE)
        for name in BOTH
        for says, metric, least, most in (
            ("the estimate is taken", "taken", 0.95, 1.05),
            ("and is no more than the sender's window", "estimate", 0.90, 1.0),
        )
    ] + [
        printed("less than half of the link in the first second", "first_second", {}, most=CAPACITY / 2),
        printed("the kernel's window before the switch is at least twice the sender's", "granted", {}, 2.0),
    ],
)  # fmt: skip

OF_THE_KERNEL = 2600
"""Per cent of the sender's window: what the kernel's is before the switch (figure 13)."""
EXPERIMENTS["vulture-begins"] = report_figure(
    title="Vulture, figure 14 from the kernel's window instead of the sender's",
    claim="From the rwnd of BE mode the sender would speed up, and even halve takes about two round trips to the right "
    "window, in which BE flows suffer.",
    sweep={"receiver": (FAITHFUL,), "begins": (100, 400, OF_THE_KERNEL)},
    scenario=lambda receiver, begins, seed: switched(receiver, seed=seed, beside=True, values=(("begins", begins),)),
    figures=[
        Figure("begins", "foreground_got", "receiver", "% of the sender's window", "of 6 Mbit/s for the foreground")
    ],
    pinned=("use", "foreground_got"),
    bars=[
        printed("from the kernel's window the foreground has less than from the sender's", "foreground_got",
                {"begins": OF_THE_KERNEL}, most=0.95, over={"begins": 100}),
    ],
)  # fmt: skip

BEGINS = (
    "{seeds} runs have {mean} ± {half}: it begins with the sender's window, so with about half of the link (figure "
    "13), and leaves when intervals tell of others"
)
EXPERIMENTS["vulture-fig14"] = report_figure(
    title="Vulture, figure 14: from foreground to background and back",
    claim="During the second period, the BE flow can send at, on average, 5.58 Mbit/s, which is 93% of its full speed. "
    "In the meanwhile, the LBE flow can make use of 83% of the spare bandwidth.",
    sweep={"receiver": WITH_RLEDBAT, "sender": ("cubic",)},
    scenario=switched_beside,
    figures=[
        Figure("receiver", "foreground_got", "sender", "receiver", "of 6 Mbit/s for the foreground"),
        Figure("receiver", "use", "sender", "receiver", "of the rest for the background"),
    ],
    timelines=[course({"receiver": name}) for name in BOTH],
    pinned=("foreground_got", "use"),
    bars=[
        Bar("foreground, of its 6 Mbit/s", "foreground_got", {"receiver": "tide"}, minimum=0.99),
        Bar("background, of the rest", "use", {"receiver": "tide"}, minimum=0.93),
        faithful("foreground, of its 6 Mbit/s", "foreground_got", 0.93, {}),
        faithful("background, of the rest", "use", 0.83, {}, holds=False, reason=NOISE),
        printed("foreground, no less of its 6 Mbit/s than the paper's 0.93", "foreground_got", {}, 0.93),
        printed("half of both before the switch", "share_before", {}, 0.45, 0.55),
        printed("less than half of the link in the first second", "first_second", {}, most=CAPACITY / 2),
        printed("foreground, of its 6 Mbit/s in the three seconds after the first", "foreground_soon", {}, 0.93,
                reason=BEGINS),
        printed("half of both from 5 s after the switch back", "share_after", {}, 0.45),
        *turbulence({}),
    ],
)  # fmt: skip

SMALL = (
    "{seeds} runs have {mean} Mbit/s ± {half}: its window begins with 10 segments and grows by one in two round trips, "
    "so that after 3 s it has less than what is spare"
)
EXPERIMENTS["vulture-fig15"] = report_figure(
    title="Vulture, figure 15: goodputs beside 6 Mbit/s",
    claim="The existence of the LBE flow does not make the BE flow lose its goodput (5.97, 5.98, 5.97 Mbit/s before, "
    "beside and after it); LBE 2.84 Mbit/s, bandwidth utilization ratio 0.83.",
    figures=[Figure("sender", "use", "receiver", "sender", "part of the spare used")],
    timelines=[course({"receiver": name}) for name in BOTH],
    quick={"receiver": ("tide",)},
    pinned=("use",),
    bars=[
        Bar("goodput kept", "foreground_kept", {"receiver": "tide"}, minimum=KEPT),
        Bar("use of what is left", "use", {"receiver": "tide"}, minimum=0.93),
        Bar("in the first 3 s the foreground loses no more than in the paper, Mbit/s", "lost_at_first",
            {"receiver": "tide"}, maximum=1.0),
        Bar("no harm when it leaves", "foreground_after", {"receiver": "tide"}, minimum=KEPT),
        faithful("goodput kept", "foreground_kept", 1.0, {}),
        faithful("use of what is left", "use", 0.83, {}),
        printed("goodput kept, all of it", "foreground_kept", {}, KEPT, reason=NOISE),
        printed("in the first 3 s the foreground loses about 1 Mbit/s", "lost_at_first", {}, 0.5, 1.5, reason=SMALL),
        printed("goodput kept from the fourth second on", "foreground_again", {}, KEPT, reason=NOISE),
        printed("the foreground's goodput oscillates more beside it, Mbit/s", "oscillation", {}, 0.01),
        printed("no harm when it leaves", "foreground_after", {}, KEPT),
    ],
)  # fmt: skip

SHORTER = (
    "{seeds} runs have {mean} ± {half}, with the paper's use of what is left (figure 15): its queue is shorter here"
)
WHEN = {"before": 104, "beside": 146, "after": 104}
EXPERIMENTS["vulture-fig16"] = report_figure(
    title="Vulture, figure 16: the foreground's RTT beside a background download",
    claim="The average RTT of the BE flow is 104 ms in the first period, 146 ms in the second, 104 ms in the third; "
    "overall, the LBE flow adds 40% delay to the BE flow.",
    figures=[
        Figure("receiver", f"rtt_{when}", "sender", "receiver", f"foreground's RTT {when} the background, ms")
        for when in WHEN
    ],
    timelines=[Timeline({"receiver": name}, "RTT, ms", round_trips) for name in BOTH],
    pinned=("rtt_added", *(f"rtt_{when}" for when in WHEN)),
    bars=[
        Bar("RTT added", "rtt_added", {"receiver": "tide"}, maximum=0.06),
        faithful("RTT added", "rtt_added", 0.40, {}, holds=False, reason=SHORTER),
        *(
            faithful(f"RTT {when}, ms", f"rtt_{when}", paper, {}, holds=when != "beside", reason=SHORTER)
            for when, paper in WHEN.items()
        ),
        *(
            printed(f"RTT {when}, within 3 % of the paper's {WHEN[when]} ms", f"rtt_{when}", {},
                    0.97 * WHEN[when], 1.03 * WHEN[when])
            for when in ("before", "after")
        ),
    ],
)  # fmt: skip

DRAINS = "{mean}: every ten seconds the sender itself drains the path to see its base; it had .967 as foreground, too"
BY_LOSS = ("cubic", "reno")
"""Senders that hold what they have when they are alone."""
RETURNS = (
    "{seeds} runs have {mean} s ± {half}: some never have less than .8 in a second, and the others are back after 6 to "
    "34 s, as its mode is the sign of a noisy sum"
)
EXPERIMENTS["vulture-fig17"] = report_figure(
    title="Vulture, figure 17: alone, background from 45 to 135 s",
    claim="The bandwidth utilization ratio for the whole LBE period is 93%, and for the stabilized LBE period is 99%.",
    sweep={"receiver": RECEIVERS, "sender": ("cubic", "reno", "bbr")},
    scenario=switched,
    figures=[Figure("sender", "use", "receiver", "sender", "part of the link used")],
    timelines=[course({"receiver": name, "sender": "cubic"}) for name in BOTH],
    quick={"receiver": ("tide",), "sender": ("cubic",)},
    pinned=("use",),
    bars=[
        bar
        for sender in ("cubic", "reno", "bbr")
        for bar in (
            Bar(f"{sender}, whole period", "use", {"receiver": "tide", "sender": sender}, minimum=0.97,
                holds=sender != "bbr", reason=DRAINS),
            Bar(f"{sender}, settled", "use_settled", {"receiver": "tide", "sender": sender}, minimum=0.99,
                holds=sender != "bbr", reason=DRAINS),
        )
    ]
    + [
        Bar("bbr, of what it had before", "kept", {"receiver": "tide", "sender": "bbr"}, minimum=0.99, holds=False,
            reason="{mean}: of 90 s it loses 1.7 at its floor when it becomes background, for what figure 13 says")
    ]
    + [
        faithful("whole period", "use", 0.93, {"sender": "cubic"}),
        faithful("settled", "use_settled", 0.99, {"sender": "cubic"}, holds=False, reason=NOISE),
        printed("cubic, whole period, no less than the paper's 0.93", "use", {"sender": "cubic"}, 0.93, reason=NOISE),
        *(printed(f"{sender}, its goodput is back after the paper's 20 s", "back", {"sender": sender}, 18.0, 22.0,
                  reason=RETURNS) for sender in BY_LOSS),
        *(Bar(f"{sender}, back within the paper's 20 s", "back", {"receiver": "tide", "sender": sender}, maximum=20.0)
          for sender in BY_LOSS),
        *(printed(f"{sender}, keeps its goodput when it is switched back", "kept_after", {"sender": sender}, 0.99)
          for sender in BY_LOSS),
        *(bar for sender in BY_LOSS for bar in turbulence({"sender": sender})),
    ],
)  # fmt: skip
