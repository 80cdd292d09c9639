# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Our family against best effort, in every repetition: the report's Wi-Fi, and a steady link without jitter."""

from experiments.low_priority.world.access import BEST_EFFORT, LEVELS, pair
from netnice_lab.model.experiment import Bar, Experiment, Figure

experiment = Experiment(
    title="Best effort against our family, one flow each, 20 random starts",
    claim="Nice was never found to be more aggressive than Cubic or NewReno.",
    differs="On the Wi-Fi these are runs of lbe-fig3; there netnice1 and netnice2 have next to nothing even alone "
    "(lbe-fig1). The steady link is 10 Mbit/s, 40 ms, 2 BDP of buffer.",
    sweep={"link": ("wifi", "plain"), "best": BEST_EFFORT, "low": LEVELS},
    scenario=lambda link, best, low, seed: pair(best, low, link, seed),
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
