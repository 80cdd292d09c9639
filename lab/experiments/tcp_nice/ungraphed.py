# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, section 4.2: the results that it gives without a graph, and foregrounds that it did not try."""

from dataclasses import replace

from experiments.tcp_nice.section4 import BASELINES, NEAR, PAPER_DIFFERS, paper
from netnice_lab.judgement.misses import EDGE
from netnice_lab.model.experiment import Bar, Experiment, Figure
from netnice_lab.model.protocols import protocol as named
from netnice_lab.model.protocols import vegas
from netnice_lab.model.scenario import Scenario

EXPERIMENTS: dict[str, Experiment] = {}

FLOOR = named("nice-0.1").with_parameters(min_window=4096)
EXPERIMENTS["demand"] = Experiment(
    title="Mean demand of the foreground from 0.4 to 6.4 Mbit/s, S = 1",
    claim="The paper states the ratio of capacity to mean demand, not the demand. It says that a window floor of 1 "
    "doubles the latency at 64 flows.",
    differs=PAPER_DIFFERS + " More demand is more documents of the same sizes by the same twelve clients.",
    sweep={
        "protocol": ("priority", "nice-0.1", "nice-0.2", "netnice", "nice-floor-1"),
        "demand": (400_000, 800_000, 1_600_000, 2_000_000, 3_200_000, 6_400_000),
        "flows": (16, 64),
    },
    scenario=lambda protocol, demand, flows, seed: paper(
        FLOOR if protocol == "nice-floor-1" else protocol, demand=demand, flows=flows, seed=seed
    ),
    seeds=1,
    figures=[
        Figure("demand", "latency", "protocol", "demand, bit/s", "document latency, ms", True, True, "flows"),
        Figure("demand", "background", "protocol", "demand, bit/s", "background, Mbit/s", True, True, "flows"),
    ],
)

FLOORS = {"1/48": 85, "1": 4096}
EXPERIMENTS["window-floor"] = Experiment(
    title="A window floor of 1 instead of 1/48: latency against the number of flows, S = 1",
    claim="When the number of background flows exceeds about 10, the latency of foreground flows begins to increase "
    "noticeably; the increase is about a factor of two when the number of background flows is 64.",
    differs=PAPER_DIFFERS + " The paper's factor of two was used to choose the mean demand: see the experiment demand.",
    sweep={"floor": tuple(FLOORS), "flows": (1, 4, 10, 16, 32, 64, 100)},
    scenario=lambda floor, flows, seed: paper(
        named("nice-0.1").with_parameters(min_window=FLOORS[floor]), flows=flows, seed=seed
    ),
    figures=[Figure("flows", "latency", "floor", "background flows", "document latency, ms", True, True)],
    more_seeds=[({"flows": flows}, 8) for flows in (16, 32, 64)],
    quick={"floor": ("1/48",), "flows": (100,)},
    bars=[
        Bar("64 flows, floor of 1", "latency", {"floor": "1", "flows": 64}, {"floor": "1/48", "flows": 64},
            minimum=1.7, maximum=2.5),
        *(
            Bar(f"{flows} flows notice a floor of 1", "latency", {"floor": "1", "flows": flows},
                {"floor": "1/48", "flows": flows}, minimum=1.1, holds=flows != 16, reason=EDGE)
            for flows in (16, 32)
        ),
        Bar("4 flows do not mind", "latency", {"floor": "1", "flows": 4}, {"floor": "1/48", "flows": 4}, maximum=1.2),
    ],
)  # fmt: skip

EXPERIMENTS["fraction"] = Experiment(
    title="The trigger fraction from 0.1 to 0.9: latency, 16 flows, S = 1",
    claim="We find little change in foreground latency as we vary this fraction from 0.1 to 0.9.",
    differs=PAPER_DIFFERS,
    sweep={"protocol": ("nice-0.1",), "fraction": (10, 30, 50, 70, 90)},
    scenario=lambda protocol, fraction, seed: paper(named(protocol).with_parameters(fraction=fraction), seed=seed),
    figures=[Figure("fraction", "latency", "protocol", "fraction, percent", "document latency, ms")],
    more_seeds=[({"fraction": fraction}, 8) for fraction in (10, 90)],
    quick={"fraction": (30,)},
    bars=[
        Bar(f"0.{percent // 10} against 0.1", "latency", {"fraction": percent}, {"fraction": 10}, maximum=NEAR)
        for percent in (30, 50, 70, 90)
    ],
)  # fmt: skip

BESIDE_DOCUMENTS = 0.568
"""Of priority's throughput, nice-sixteen."""
NO_QUEUE = (
    "all twelve sources together send no more than the link carries, so that by themselves they make hardly a queue"
)
EXPERIMENTS["pareto-udp"] = Experiment(
    title="ON/OFF Pareto UDP foreground: datagram delay and loss, S = 1",
    claim="Nice still causes lower interference than Reno or Vegas, but does not match router prioritization as "
    "closely. The utilization of spare capacity by Nice is also lower compared to the trace workload.",
    differs=PAPER_DIFFERS + " UDP has no documents: interference is the datagrams' delay and loss.",
    sweep={"protocol": ("none", *BASELINES), "flows": (1, 16)},
    scenario=lambda protocol, flows, seed: paper(protocol, flows=flows, seed=seed, udp=True),
    figures=[
        Figure("flows", "udp_delay", "protocol", "background flows", "datagram delay, ms", True),
        Figure("flows", "udp_loss", "protocol", "background flows", "datagrams lost, part of 1", True),
        Figure("flows", "background", "protocol", "background flows", "background, Mbit/s", True),
    ],
    pinned={"udp_delay": 0.05, "background": 0.10},
    bars=[
        Bar(f"{worse} delays more than Nice, 16 flows", "udp_delay", {"protocol": worse, "flows": 16},
            {"protocol": "nice-0.1", "flows": 16}, minimum=1.0)
        for worse in ("reno", "vegas-1-3", "cubic")
    ] + [
        Bar("Nice delays more than priority, 16 flows", "udp_delay", {"protocol": "nice-0.1", "flows": 16},
            {"protocol": "priority", "flows": 16}, minimum=NEAR),
        Bar("Nice uses less of the spare than beside documents, 16 flows", "background",
            {"protocol": "nice-0.1", "flows": 16}, {"protocol": "priority", "flows": 16}, maximum=BESIDE_DOCUMENTS,
            holds=False, reason=NO_QUEUE),
    ],
)  # fmt: skip

PERCENT = (25, 50, 75, 100, 125)
RATES = tuple(f"reno-at-{percent}" for percent in PERCENT)
MEAN = "its limit is of the mean spare, and documents come in bursts: it goes on while they ask for more"
QUARTER = "a quarter of the spare leaves more to documents than Nice does; it has less than half of Nice's throughput"
EXPERIMENTS["rate-limited"] = Experiment(
    title="Rate-limited Reno against Nice: latency and throughput, 16 flows, S = 1",
    claim="When the rate is tuned to approximate the spare capacity of the network, rate limiting performs well. Nice, "
    "however, outperforms rate limiting and does not require hand tuning.",
    differs=PAPER_DIFFERS + " The limit is TCP's own pacing at a part of the mean spare capacity, shared by the flows.",
    sweep={"protocol": ("priority", "nice-0.1", "nice-0.2", *RATES), "spare": (0.5, 1.0, 2.0)},
    scenario=lambda protocol, spare, seed: paper(protocol, spare=spare, seed=seed),
    figures=[
        Figure("background", "latency", "protocol", "background, Mbit/s", "document latency, ms", panel="spare"),
    ],
    more_seeds=[({"protocol": name, "spare": 0.5}, 8) for name in ("nice-0.1", "reno-at-25")],  # two runs say nothing
    bars=[
        Bar(f"a quarter of the spare: hardly less latency than Nice, S = {spare}", "latency",
            {"protocol": "reno-at-25", "spare": spare}, {"protocol": "nice-0.1", "spare": spare}, minimum=0.95)
        for spare in (0.5, 1.0, 2.0)
    ] + [
        Bar(f"a quarter of the spare: less throughput than Nice, S = {spare}", "background",
            {"protocol": "reno-at-25", "spare": spare}, {"protocol": "nice-0.1", "spare": spare}, maximum=1.0,
            holds=spare != 0.5, reason=EDGE if spare == 0.5 else "")
        for spare in (0.5, 1.0, 2.0)
    ] + [
        Bar(f"the spare itself: latency near priority's, S = {spare}", "latency",
            {"protocol": "reno-at-100", "spare": spare}, {"protocol": "priority", "spare": spare}, maximum=1.25,
            holds=False, reason=MEAN)
        for spare in (0.5, 1.0, 2.0)
    ] + [
        Bar(f"{percent} % of the spare: no less latency than Nice, S = {spare}", "latency",
            {"protocol": f"reno-at-{percent}", "spare": spare}, {"protocol": "nice-0.1", "spare": spare}, minimum=1.0,
            holds=(percent, spare) != (25, 2.0), reason=QUARTER if (percent, spare) == (25, 2.0) else "")
        for percent in PERCENT for spare in (0.5, 1.0, 2.0)
    ],
)  # fmt: skip

FOREGROUNDS = ("vegas", "cubic", "bbr")
MORE = "{mean}, where documents by Reno have 1.08; why more is not known"
OTHERS_WAIT = {("vegas", 0.5): EDGE, ("bbr", 2.0): EDGE, ("cubic", 1.0): MORE, ("bbr", 1.0): MORE}
"""Bars that are not met: the documents' congestion control and S."""


def served_by(pages: str, protocol: str, spare: float, seed: int) -> Scenario:
    """Section 4.1 with documents of another congestion control; Vegas is the paper's Vegas(1, 3)."""
    made = paper(protocol, spare=spare, seed=seed, documents_by=pages)
    return replace(made, knobs=(*made.knobs, *vegas(1, 3).knobs)) if pages == "vegas" else made


EXPERIMENTS["nice-foregrounds"] = Experiment(
    title="Documents by Vegas, CUBIC and BBR beside 16 background flows: latency against spare capacity",
    claim="Nice keeps out of the way of Reno and Vegas flows over a wide range of spare capacities; future work must "
    "show that it interferes little with other congestion controls, equation-based or rate-based ones too.",
    differs=PAPER_DIFFERS + " BBR is the rate-based one; Linux has no equation-based one (TFRC).",
    sweep={"pages": FOREGROUNDS, "protocol": ("priority", "nice-0.1"), "spare": (0.5, 1.0, 2.0)},
    scenario=served_by,
    figures=[
        Figure("spare", "latency", "protocol", "spare capacity S", "document latency, ms", True, True, "pages")
    ],
    seeds=4,
    bars=[
        Bar(f"documents by {foreground} are hardly slower than beside priority, S = {spare}", "latency",
            {"pages": foreground, "protocol": "nice-0.1", "spare": spare},
            {"pages": foreground, "protocol": "priority", "spare": spare}, maximum=NEAR,
            holds=(foreground, spare) not in OTHERS_WAIT, reason=OTHERS_WAIT.get((foreground, spare), ""))
        for foreground in FOREGROUNDS for spare in (0.5, 1.0, 2.0)
    ],
)  # fmt: skip
