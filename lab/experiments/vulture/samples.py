# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's figures with a sample of each data packet, as in the report; ours takes one with each ACK, of every second.

A receiver that acknowledges each segment at once samples each.
"""

from collections.abc import Callable
from dataclasses import replace

from experiments.vulture.report import FAITHFUL, REPRODUCED, RUNS, report_figure
from experiments.vulture.scenarios import beside_steady, fairness, on_off, switched
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.scenario import Scenario

EXPERIMENTS: dict[str, Experiment] = {}

FIGURES: dict[str, tuple[Callable[[int], Scenario], dict[str, float]]] = {
    "9": (lambda seed: on_off(FAITHFUL, 30, seed=seed), {"use": 0.56, "found": 20.0}),
    "15": (lambda seed: beside_steady(FAITHFUL, seed=seed), {"use": 0.83, "foreground_kept": 1.0}),
    "17": (lambda seed: switched(FAITHFUL, seed=seed), {"use": 0.93, "use_settled": 0.99}),
    "19, 5 s": (lambda seed: on_off(FAITHFUL, 5, seed=seed), {"use": 0.25, "share": 0.14}),
    "20, 8 flows": (lambda seed: fairness(FAITHFUL, 8, seed), {"background_fairness": 0.98}),
}
"""The run, and the report's numbers."""


NOISIER = (
    "{mean}: of each segment there are twice as many PIVs, and with 0.25 ms of jitter more rounds are conservative, "
    "which do not grow; a sample of every second is nearer to the report"
)


def sampled(samples: str, figure: str, seed: int) -> Scenario:
    """A figure, with a sample of every second segment or of each."""
    made = FIGURES[figure][0](seed)
    return replace(made, topology=replace(made.topology, quick_acks=("home",))) if samples == "each" else made


def bar(figure: str, metric: str, paper: float) -> Bar:
    """The report's number, held against a sample of each."""
    cell: Cell = {"samples": "each", "figure": figure}
    return Bar(f"figure {figure}, a sample of each: {metric}, the paper's {paper:g}", metric, cell,
               minimum=paper * (1 - REPRODUCED), maximum=paper * (1 + REPRODUCED),
               holds=metric in ("foreground_kept", "background_fairness"), reason=NOISIER)  # fmt: skip


EXPERIMENTS["vulture-samples"] = report_figure(
    title="Vulture's figures 9, 15, 17, 19 and 20, with a sample of every second segment and of each",
    claim="Algorithm 1 is applied upon the receipt of a data packet.",
    differs="With a sample of each segment every segment is acknowledged at once, too.",
    sweep={"samples": ("every second", "each"), "figure": tuple(FIGURES)},
    scenario=sampled,
    figures=[Figure("figure", "use", "samples", "", "use of what is left")],
    tables=[
        Table("samples", ("samples",), "figure", [
            Number("use"), Number("found", 0), Number("share"), Number("background_fairness"),
        ])
    ],
    pinned=("use", "background_fairness"),
    seeds=RUNS,
    bars=[bar(figure, metric, paper) for figure, (_, papers) in FIGURES.items() for metric, paper in papers.items()],
)  # fmt: skip
