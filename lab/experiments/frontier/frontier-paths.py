# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The frontier by rate and round trip."""

from experiments.frontier.world.front import DIFFERS, FEW_PACKETS, MORE, PROTOCOLS, bars, figure, front, tables
from experiments.frontier.world.paths import TODAY_DIFFERS, today
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Experiment

MISSES = misses.read(
    {
        FEW_PACKETS: """
            added: 1/10 1/40 1/200 10/10
            used: 1/10 1/40 10/10
        """,
        MORE: "added: 10/40 10/200 100/10 100/40",
    }
)
RATES, RTTS = (1.0, 10.0, 100.0), (10.0, 40.0, 200.0)

experiment = Experiment(
    title="Latency added against spare used, by Mbit/s and ms: a buffer of a BDP, 4 flows",
    claim="Not in the papers.",
    differs=f"{TODAY_DIFFERS} {DIFFERS} At 100 Mbit/s 10 s are measured, elsewhere 50; 1 Gbit/s is not run.",
    sweep={"protocol": PROTOCOLS, "rate": RATES, "rtt": RTTS},
    scenario=lambda protocol, rate, rtt, seed: today(
        protocol, rate=rate, rtt=rtt, flows=4, seed=seed, duration=20.0 if rate > 10 else 60.0
    ),
    figures=[figure("path")],
    tables=[table for rate in RATES for table in tables(f"rate{rate:g}", "rtt", rate=rate)],
    derive=lambda frame: front(frame, ("rate", "rtt")).assign(
        path=lambda rows: rows.rate.map("{:g}".format) + " Mbit/s, " + rows.rtt.map("{:g}".format) + " ms"
    ),
    bars=[
        bar for rate in RATES for rtt in RTTS for bar in bars(MISSES, f"{rate:g}/{rtt:g}", {"rate": rate, "rtt": rtt})
    ],
)
