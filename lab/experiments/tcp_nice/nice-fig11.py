# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 11: a file for 200 clients on unlike links, with throttles and in the background."""

import pandas as pd

from experiments.tcp_nice.world.replication import LINES, distribution
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table

THROTTLES = (24_000, 96_000, 384_000, 1_536_000, 6_144_000, 24_576_000, 0)
"""Bit/s that a server sends to one client at most; the last has none."""
PLAIN, YIELDING = ("reno", "cubic"), ("nice", "netnice")
ALL = "all"
"""The geometric mean over the kinds of line."""
WHERE = (*LINES, ALL)
METRICS = ("time", "ping", "request")
BETTER, BESIDE = 1.05, 1.05
NOTHING: Cell = {"algorithm": "none", "throttle": 0}
OURS: Cell = {"algorithm": "netnice", "throttle": 0}
MISSES = misses.read(
    {
        "a document waits for the few packets that the background keeps in the queue: one takes 250 ms on the modem, "
        "12 on the ADSL line, 1.5 on the cable modem": """
            documents beside nice: modem cable
            documents beside netnice: modem adsl cable
        """,
        "slow start fills the queue once, and the transfer is over in a second": """
            documents beside netnice: fibre
        """,
        "the mean of what its lines miss": """
            documents beside nice: all
            documents beside netnice: all
        """,
    }
)


def exists(cell: Cell) -> bool:
    """What yields needs no throttle, and nothing has none."""
    return cell["algorithm"] in PLAIN or not cell["throttle"]


def named(metric: str, where: str) -> str:
    """A metric of one kind of line, or of all."""
    return metric if where == ALL else f"{where}_{metric}"


def bars() -> list[Bar]:
    """No throttle beats the point that nobody tuned, and who asks for documents does not notice it."""
    frontier = [
        misses.bar(MISSES, f"{algorithm} at {throttle or 'any'} bit/s is not better in both: {where}",
                   named("time", where), {"algorithm": algorithm, "throttle": throttle}, OURS,
                   minimum=1 / BETTER, or_metric=named("ping", where))
        for algorithm in PLAIN for throttle in THROTTLES for where in WHERE
    ]  # fmt: skip
    requests = [
        misses.bar(MISSES, f"documents beside {algorithm} {where}", named("request", where),
                   {"algorithm": algorithm, "throttle": 0}, NOTHING, maximum=BESIDE)
        for algorithm in YIELDING for where in WHERE
    ]  # fmt: skip
    return frontier + requests


def by_line(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a run and kind of line; `beside`: the documents as multiples of what they take with nothing beside them."""
    rows = [
        frame[["algorithm", "throttle", "seed"]].assign(
            line=where, **{metric: frame[named(metric, where)] for metric in METRICS}
        )
        for where in WHERE
    ]
    found = pd.concat(rows, ignore_index=True)
    nothing = found[found.algorithm == "none"].set_index(["line", "seed"]).request
    base = nothing.reindex(pd.MultiIndex.from_frame(found[["line", "seed"]])).to_numpy()
    limit = found.throttle.map(lambda throttle: f"{throttle / 1000:g} kbit/s" if throttle else "none")
    return found.assign(beside=found.request / base, limit=limit)[found.algorithm != "none"]


experiment = Experiment(
    title="A file for 200 clients on unlike links: ping against completion, throttled and in the background",
    claim="With Reno, completion times decrease with increasing throttle rates but increase ping latencies as well, "
    "and the optimal rates vary widely across different networks. Nice picks sending rates for each connection that "
    "achieve minimum transfer times while maintaining acceptable ping latencies in all cases.",
    differs="40 clients on each of five kinds of line instead of one on each of a few networks; the servers' throttle "
    "is fq's maxrate; a ping is 64 bytes over a connection that is there, one way and its ACK. One seed: 40 clients "
    "are the sample.",
    sweep={"algorithm": ("none", *YIELDING, *PLAIN), "throttle": THROTTLES},
    scenario=distribution,
    exists=exists,
    figures=[Figure("time", "ping", "algorithm", "completion, s", "ping, ms", True, True, panel="line")],
    seeds=1,
    quick={"algorithm": ("none", "netnice"), "throttle": (0,)},
    pinned={named(metric, where): 0.05 for where in WHERE for metric in METRICS},
    bars=bars(),
    tables=[
        Table("frontier", ("algorithm", "limit"), "line", [Number("time", 1), Number("ping", 0)]),
        Table("documents", ("algorithm",), "line", [Number("beside", 2, most=BESIDE)], {"throttle": 0}),
    ],
    derive=by_line,
)  # fmt: skip
