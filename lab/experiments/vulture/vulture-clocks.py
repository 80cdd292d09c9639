# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Clocks 100 ppm apart for an hour: the bars of figures 15, 16 and 19, held beside the same hour without drift."""

from experiments.vulture.world.figures import LATE, SHARE, SHORT, USE, report_figure
from experiments.vulture.world.scenarios import beside_steady, on_off
from netnice_lab.model.experiment import Bar, Figure
from netnice_lab.model.scenario import Scenario

HOUR = 3600
STEADY = 0
"""As a period: figure 15's foreground, that sends all the time."""
DRIFT = 100
CHANCE = "this run has {mean}, three in the mean .755"


def scenario(period: int, drift: int, seed: int) -> Scenario:
    """One of the figures, as long as it takes the clocks to be 360 ms apart."""
    if period == STEADY:
        return beside_steady("tide", seed=seed, lasting=HOUR, drift=drift)
    return on_off("tide", period, seed=seed, lasting=HOUR, drift=drift)


def at(period: int, drift: int = DRIFT) -> dict[str, int]:
    """A cell."""
    return {"period": period, "drift": drift}


experiment = report_figure(
    title="An hour with the receiver's clock 100 ppm fast",
    claim="Not in the report. The bar: what holds beside exact clocks holds while they drift apart.",
    differs="Our clock is the fast one: a queue seems to grow by 0.1 ms a second, until after two minutes TIDE knows "
    "by how much. The other way round the next segment corrects a base that is too high.",
    sweep={"period": (STEADY, 1, 3, 5, 10, 30), "drift": (0, DRIFT)},
    scenario=scenario,
    figures=[
        Figure("period", "use", "drift", "seconds on and off (0: steady)", "use of what is left"),
        Figure("period", "share", "drift", "seconds on and off", "share of the on periods"),
    ],
    pinned=("use", "share"),
    bars=[
        Bar("beside 6 Mbit/s: goodput kept", "foreground_kept", at(STEADY), minimum=0.99),
        Bar("beside 6 Mbit/s: use of what is left", "use", at(STEADY), minimum=0.93),
        Bar("beside 6 Mbit/s: RTT added", "rtt_added", at(STEADY), maximum=0.06),
        *(Bar(f"{t} s off", "use", at(t), minimum=least, holds=t not in (1, 5), reason=SHORT if t == 1 else CHANCE)
          for t, least in USE.items()),
        *(Bar(f"{t} s on", "share", at(t), maximum=most, holds=t >= 10,
              reason=SHORT if t == 1 else LATE) for t, most in SHARE.items()),
        *(Bar(f"{t} s: the foreground has what it has without drift", "foreground_on", at(t), at(t, 0), minimum=0.99)
          for t in USE),
    ],
)  # fmt: skip
