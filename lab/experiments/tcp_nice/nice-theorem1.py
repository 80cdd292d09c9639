# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, theorem 1: the bound, the fluid model and the lab in one plot."""

import pandas as pd

from experiments.tcp_nice.world import theorem
from experiments.tcp_nice.world.paper import long_flows
from netnice_lab.model.experiment import Bar, Experiment, Figure

MU, TAU = 4_000_000 / 8 / 526, 0.1


def with_theory(frame: pd.DataFrame) -> pd.DataFrame:
    """Interference from the lab's goodputs, and the same cells from the fluid model and the bound."""
    rows = []
    key = ["buffer", "reno", "seed"]
    alone = frame[frame.nice == 0].groupby(key).foreground.mean()
    columns = frame[frame.nice > 0][["buffer", "reno", "nice", "threshold", "seed", "foreground"]]
    for buffer, reno, nice, percent, seed, goodput in columns.to_numpy(float).tolist():
        path, m, flows, t = theorem.Path(MU, TAU, buffer), int(reno), int(nice), percent / 100
        lines = {
            f"lab m={m}, l={flows}, t={t}": 1 - goodput / alone[(buffer, reno, seed)],
            f"fluid m={m}, l={flows}, t={t}": theorem.interference(path, m, flows, t),
            f"bound m={m}, t={t}": theorem.bound(path, m, t),
        }
        rows += [{"buffer": buffer, "line": line, "interference": max(v, 1e-5)} for line, v in lines.items()]
    return pd.DataFrame(rows)


experiment = Experiment(
    title="TCP Nice, theorem 1: Reno's lost throughput against the buffer",
    claim="I <= 4 m exp(-B (1-t) gamma / m) / ((mu tau + B) gamma): the interference falls exponentially with the "
    "buffer, whatever the number of Nice flows.",
    differs="Long Reno flows at 4 Mbit/s, 100 ms, 512-byte packets. The model's flows are synchronised fluids with "
    "beta = 0; the lab's are Linux flows with delayed ACKs, which grow half as fast, and SACK. Differences below about "
    "0.01 are the phase of the losses, not interference; values below 1e-5 are drawn there.",
    sweep={"reno": (1, 4), "buffer": (10, 20, 49, 98, 196), "nice": (0, 1, 16), "threshold": (10, 50)},
    scenario=lambda reno, buffer, nice, threshold, seed: long_flows(reno, nice, buffer, threshold, seed),
    figures=[Figure("buffer", "interference", "line", "buffer, packets", "Reno's throughput lost", False, True)],
    derive=with_theory,
    seeds=1,
    pinned={"foreground": 0.05},
    bars=[
        Bar("a buffer of 2 BDP: 16 Nice flows cost 1 Reno flow next to nothing", "foreground",
            {"reno": 1, "buffer": 196, "nice": 16, "threshold": 10},
            {"reno": 1, "buffer": 196, "nice": 0, "threshold": 10}, minimum=0.95),
    ],
)  # fmt: skip
