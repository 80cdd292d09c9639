# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Lines whose rate or RTT moves by itself: two downloads beside pages over LTE, Wi-Fi and a satellite."""

from experiments.lines.world.lines import by_radio
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment, Figure

RADIO = ("lte", "wifi", "satellite")
MISSES = misses.read(
    {
        "when the rate falls, what is in flight is a queue that no sender can take back": """
            pages / alone: lte
        """,
        "it uses all that is left, where it used a fifth before it knew a longer way, and pages wait for what is in "
        "flight": """
            pages / alone: satellite
        """,
    }
)

experiment = Experiment(
    title="Radio lines: two downloads beside pages that take a tenth of the line",
    claim="Not in the papers, which name jitter and varying rates as a weakness of delays.",
    sweep={"protocol": ("none", "cubic", "priority", "netnice"), "line": RADIO},
    scenario=lambda protocol, line, seed: by_radio(protocol, line, seed),
    figures=[Figure("line", "background", "protocol", "", "downloads, Mbit/s")],
    seeds=2,
    quick={"line": ("lte",)},
    pinned={"background": 0.1, "latency_geometric": 0.1},
    bars=[
        bar
        for line in RADIO
        for bar in (
            misses.bar(MISSES, f"share of the priority queue's {line}", "background",
                       {"protocol": "netnice", "line": line}, {"protocol": "priority", "line": line}, minimum=0.5),
            misses.bar(MISSES, f"pages / alone {line}", "latency_geometric",
                       {"protocol": "netnice", "line": line}, {"protocol": "none", "line": line}, maximum=1.08),
        )
    ],
)  # fmt: skip
