# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The frontier by who is in front."""

from functools import partial

from experiments.frontier.world.front import DIFFERS, MORE, PROTOCOLS, bars, figure, front, tables
from experiments.frontier.world.paths import TODAY_DIFFERS, today
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment

MISSES = misses.read({MORE: "added: cubic reno bbr cubic-persistent"})
FOREGROUNDS = ("cubic", "reno", "bbr", "cubic, persistent")

experiment = Experiment(
    title="Latency added against spare used, by the documents' congestion control: 20 Mbit/s, 40 ms, 1 BDP, 4 flows",
    claim="Not in the papers: their documents are Reno's.",
    differs=f"{TODAY_DIFFERS} {DIFFERS}",
    sweep={"protocol": PROTOCOLS, "pages": FOREGROUNDS},
    scenario=lambda protocol, pages, seed: today(
        protocol, foreground=pages.split(",")[0], persistent="," in pages, flows=4, seed=seed
    ),
    figures=[figure("pages")],
    tables=tables("pages", "pages"),
    derive=partial(front, key=("pages",)),
    bars=[bar for pages in FOREGROUNDS for bar in bars(MISSES, pages.replace(", ", "-"), {"pages": pages})],
)
