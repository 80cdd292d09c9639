# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A route change under a download that yields: its data take longer for 90 seconds."""

from experiments.vulture.world.figures import report_figure
from experiments.vulture.world.scenarios import rerouted
from netnice_lab.model.experiment import Bar, Figure, Number, Table

LONGER = (3_000, 6_000, 10_000, 20_000, 50_000, 100_000)
BETWEEN = (
    "{mean}, where a sample of each segment had .976: 3 ms are between half its target and the target, where the "
    "window stands, and of half as many samples the least is seldom lower"
)
SHORT = "{mean}: below the threshold nothing tells a longer way from a queue, and Vegas keeps its window for one"

experiment = report_figure(
    title="A route change: the data's way becomes longer by 3 to 100 ms",
    claim="Not in the report. The bars: at least .97 of the path is used, as before the change.",
    differs="Not in the report.",
    sweep={"receiver": ("tide", "as_sender", "rledbat"), "longer": LONGER},
    scenario=rerouted,
    figures=[
        Figure("longer", "use", "receiver", "longer, us", "use of the path from 30 s after the change"),
        Figure("longer", "found", "receiver", "longer, us", "seconds until 80 % is used"),
    ],
    tables=[Table("route", ("receiver",), "longer", [Number("use"), Number("found", 0)])],
    pinned=("use", "found"),
    bars=[
        *(Bar(f"{us // 1000} ms: the path is used", "use", {"receiver": "tide", "longer": us}, minimum=0.97,
              holds=us > 3_000, reason="" if us > 3_000 else BETWEEN) for us in LONGER),
        *(Bar(f"{us // 1000} ms: and soon", "found", {"receiver": "tide", "longer": us}, maximum=20.0)
          for us in LONGER),
        *(Bar(f"as the sender, {us // 1000} ms: the path is used", "use", {"receiver": "as_sender", "longer": us},
              minimum=0.97, holds=us >= 10_000, reason="" if us >= 10_000 else SHORT) for us in LONGER),
    ],
)  # fmt: skip
