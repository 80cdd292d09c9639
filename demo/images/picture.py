# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The picture of the images: how long documents take above, what the background got below."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from demo.conditions import Conditions
from demo.images.conditions import LOADS
from demo.images.table import Runs

_KINDS = {"cubic": ("plain (CUBIC)", "#c0504d"), "netnice": ("netnice", "#e8a33d"), "priority": ("ideal", "#0b6e99")}
_WIDTH = 0.26


def draw(runs: Runs, c: Conditions, file: Path) -> None:
    """A group of bars a program."""
    mpl.use("Agg")
    loads = [load for load in LOADS if runs.get(load.key)]
    figure = Figure(figsize=(3 * max(len(loads), 1) + 2, 7), layout="constrained")
    documents, got = figure.subplots(2, 1, sharex=True)
    for place, (kind, (title, colour)) in enumerate(_KINDS.items()):
        mine = [(n, one) for n, load in enumerate(loads) for one in runs[load.key] if one.key == kind]
        at = [n + (place - 1) * _WIDTH for n, _ in mine]
        documents.bar(at, [one.foreground["mean_us"] / 1e3 for _, one in mine], _WIDTH, label=title, color=colour)
        got.bar(at, [one.background_bps / 1e6 for _, one in mine], _WIDTH, color=colour)
    for one in runs.get("", ()):
        mean = one.foreground["mean_us"] / 1e3
        documents.axhline(mean, color="black", linewidth=0.9, linestyle="--", label="nothing beside")
    documents.set_ylabel("documents take, mean, ms")
    documents.legend(fontsize=8)
    got.set_ylabel("background gets, Mbit/s")
    got.set_xticks(range(len(loads)), [load.title.replace(", ", ",\n") for load in loads])
    figure.suptitle(f"Documents on half of {c.rate_bps / 1e6:g} Mbit/s, {c.rtt_ms} ms")
    figure.savefig(file, dpi=110)
