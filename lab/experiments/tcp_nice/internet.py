# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice's section 5 without the Internet: its four paths, four of today's, and figure 8's six actions on them.

The paper names its paths and no more. Their rates are what such lines had in 2002, their buffers are stated here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.low_priority.access import ROOMY, STEP, WIFI, factors
from experiments.tcp_nice import drive
from netnice_lab.judgement import misses
from netnice_lab.model.background import PathChanges, changing, finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.protocols import protocol, vegas
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import ETHERNET, Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Change, Document, Documents, Traffic

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

GOLDEN = 0.618
"""Parts of a period from one seed's moment in it to the next's: evenly spread however many there are."""
BEGIN = 1.0
"""Seconds after which an action begins."""
TOGETHER = 0.1
"""Seconds within which its transfers do."""
BY_ITSELF = 9.0
"""How many times as long as Reno any core may take by itself, and still be seen to end."""
SATELLITE_SLOT = 15.0
"""Seconds after which a terminal is given another satellite, and with it another RTT."""
PAYLOAD = 1448 / (1500 + ETHERNET)


@dataclass(frozen=True)
class Path:
    """Bit/s, microseconds of RTT, bytes of buffer; how long one transfer takes alone, in seconds.

    `varies`: 'wifi' or 'drive', how the rate does; `moves`: least and most microseconds of RTT, if it steps.
    `longest`: how many times as long a transfer beside a background may take, and still be seen to end.
    """

    rate: int
    rtt: int
    buffer: int
    lasts: float = 10.0
    jitter: int = 0
    slots: tuple[int, int] | None = None
    varies: str = ""
    moves: tuple[int, int] | None = None
    longest: float = 2.5

    def network(self, others: tuple[str, ...] = ()) -> Topology:
        """All of the propagation delay is on the way of the ACKs, as in the lab's dumbbell; `others`: more servers."""
        back = Pipe(delay=self.rtt, jitter=self.jitter)
        queue = Queue("fifo", bytes=self.buffer)
        return Topology(
            ("server", "client", *others),
            ("router",),
            (
                Link("server", "router", back=back),
                Link("router", "client", forward=Pipe(self.rate, queue, slots=self.slots)),
                *(Link(other, "router", back=back) for other in others),
            ),
        )

    def rates(self, duration: float, seed: int) -> tuple[float, list[int]]:
        """Seconds between two changes of the rate, and the rate in each."""
        if self.varies == "drive":
            lasting = len(drive.PACKETS) * drive.EVERY
            return drive.EVERY, drive.rates(seed * GOLDEN % 1 * lasting, duration)
        if self.varies:
            return STEP, [self.rate, *(round(self.rate * part) for part in factors(duration, seed)[1])]
        return duration, [self.rate]

    def changes(self, duration: float, seed: int) -> PathChanges:
        """What changes the rate, if it varies."""
        every, rates = self.rates(duration, seed)
        return changing("router", "router-1", rates[1:], every, self.buffer) if self.varies else ((), ())

    def steps(self, duration: float, seed: int) -> tuple[Change, ...]:
        """What changes the RTT, if it steps."""
        if not self.moves:
            return ()
        random = np.random.Generator(np.random.PCG64([seed, 0x5A7E]))
        times = np.arange(seed * GOLDEN % 1, duration / SATELLITE_SLOT) * SATELLITE_SLOT
        return tuple(
            Change(float(at), "router", f"qdisc change dev router-0 root netem delay {rtt:.0f}us limit 1000000")
            for at, rtt in zip(times, random.uniform(*self.moves, len(times)), strict=True)
        )

    def size(self, seed: int) -> int:
        """Bytes that this path carries, from the beginning of an action on, in the time that a transfer lasts."""
        every, rates = self.rates(BEGIN + self.lasts, seed)
        edges = np.arange(len(rates) + 1) * every
        inside = np.diff(np.clip(edges, BEGIN, BEGIN + self.lasts))
        return int((inside * rates).sum() / 8 * PAYLOAD)


PAPER = {
    "modem": Path(48_000, 150_000, 16_384, longest=9.0),
    "cable": Path(1_500_000, 40_000, 65_536),
    "london": Path(10_000_000, 115_000, 144_000),
    "delaware": Path(100_000_000, 45_000, 562_500),
}
"""A 56 k modem in a good hour and what a modem bank holds for it; a cable modem of 2002; paths with a BDP of buffer."""
TODAY = {
    "lte": Path(drive.LEAST, 60_000, 1_000_000, varies="drive"),
    "wifi": Path(WIFI.rate, WIFI.rtt, WIFI.buffer, jitter=WIFI.jitter, slots=(1_000, 4_000), varies="wifi"),
    "fibre": Path(1_000_000_000, 5_000, 625_000, lasts=3.0),
    "satellite": Path(100_000_000, 40_000, 500_000, moves=(30_000, 60_000)),
}
"""LTE in a car, the lab's Wi-Fi with frames of 1 to 4 ms, fibre, a low orbit whose RTT is another every 15 s."""
PATHS = PAPER | TODAY


def parts(action: str) -> tuple[str, str, int]:
    """The primary's and the secondaries' protocols and how many of these: reno/nice8."""
    primary, _, secondary = action.partition("/")
    if secondary == "null":
        return primary, "none", 0
    many = secondary.endswith("8")
    return primary, secondary.removesuffix("8") if many else secondary, 8 if many else 1


def transfer(path: str, action: str, seed: int) -> Scenario:
    """One action: a file of the primary, and secondaries that last as long as it may take."""
    chosen, (primary, secondary, count) = PATHS[path], parts(action)
    # once the transfer is over, only a background costs anything
    times = BY_ITSELF if not count else 2.0 * (1 + count) if secondary in (primary, VEGAS) else chosen.longest
    duration = BEGIN + chosen.lasts * times
    traffic: tuple[Traffic, ...] = (
        Documents("server", "client", (Document(BEGIN, chosen.size(seed), 0),), primary, tos=0),
    )
    if count:
        traffic += (Bulk("server", "client", count, secondary, (BEGIN, BEGIN + TOGETHER)),)
    changes, knobs = chosen.changes(duration, seed)
    traffic += (*changes, *chosen.steps(duration, seed))
    made = Scenario(chosen.network(), traffic, duration, BEGIN, seed, sysctls=ROOMY)
    knobs += vegas(1, 3).knobs if VEGAS in (primary, secondary) else ()
    for name in dict.fromkeys((primary, secondary)):
        made = finish(made, protocol(name)) if name != VEGAS else made
    return replace(made, knobs=knobs + made.knobs)


PRIMARIES, CORES = ("reno", "cubic"), ("nice", "netnice")
VEGAS = "vegas"
"""The kernel's, as the paper's Vegas(1, 3)."""
BY_VEGAS = {f"{VEGAS}/null": "reno/null", f"reno/{VEGAS}": "reno/reno", f"reno/{VEGAS}8": "reno/reno8"}
"""The paper's footnote 1: actions that are as others."""
ALONE = tuple(f"{core}/null" for core in CORES)
SHARED = tuple(f"{primary}/{primary}{count}" for primary in PRIMARIES for count in ("", "8"))
BESIDE = tuple(f"{primary}/{core}{count}" for primary in PRIMARIES for core in CORES for count in ("", "8"))
ACTIONS = (
    tuple(
        action
        for primary in PRIMARIES
        for action in (f"{primary}/null", *(a for a in SHARED + BESIDE if a.startswith(primary)))
    )
    + ALONE
    + tuple(BY_VEGAS)
)
KEPT, FOUND = 0.98, 0.90
"""Of Reno alone: what it keeps, what the background finds."""
FAIR = {"": 1.3, "8": 5.0}
"""Times as long as alone, at least, beside one and eight of the same: rates vary, so that it is not 2 and 9."""
FAIR_SHARES = {"": (1.7, 2.4), "8": (7.0, 11.0)}
"""The same where the rate stands still: about 2 and 9."""
PAPER_KEPT, HALF, ALIKE = 0.97, 2.0, (0.8, 1.25)
"""What Reno keeps on the paper's modem and cable modem; a significant part at least; Vegas over Reno."""
MISSES["nice-fig8"] = misses.read(
    {
        "they begin with the transfer: its queue is in the smallest RTT that they know, so that they see none of it, "
        "and each keeps about a packet in it": """
            reno/nice: modem
            cubic/nice: modem
            reno/nice8: modem cable
            cubic/nice8: modem cable
            reno/netnice: modem cable
            cubic/netnice: modem cable
            reno/netnice8: modem cable
            cubic/netnice8: modem cable
            reno/nice keeps 97 % on the: modem
            reno/nice8 keeps 97 % on the: cable
        """,
        "they begin with the transfer and leave slow start a little later than they should; then they keep out of its "
        "way, but ten seconds do not make good what the first one cost": """
            reno/nice8: london delaware lte fibre
            cubic/nice8: london delaware lte satellite
            reno/netnice: london delaware fibre
            reno/netnice8: london delaware lte wifi fibre satellite
            cubic/netnice8: london delaware lte wifi fibre satellite
        """,
        "two packets of its own take longer on this line than the threshold allows a queue to be: it halves": """
            nice/null: modem cable
            nice/null has half of Reno on: modem cable
        """,
        "its first queue ends slow start early, and a segment a round trip does not fill the path in ten seconds": """
            nice/null: london delaware fibre
        """,
        "a queue to it is also jitter and a rate that falls": """
            nice/null: lte wifi
            netnice/null: lte wifi
        """,
        misses.DRAWN: """
            reno/nice8: wifi
            cubic/nice8: fibre
        """,
        "Vegas gives way to the queue that Reno makes": """
            reno/vegas is as reno/reno on: cable london delaware
            reno/vegas8 is as reno/reno8 on: cable london delaware
        """,
        "why is not known; the modem's buffer holds 2.7 s": """
            reno/reno is fair on: modem
        """,
        misses.EDGE: """
            reno/reno8 is fair on: delaware
        """,
        "a longer way is a queue to it until it has forgotten the shorter one (lbe-route)": """
            nice/null: satellite
        """,
    }
)
FOUR = tuple(PAPER)


def exists(cell: Cell) -> bool:
    """The footnote is about the paper's paths."""
    return cell["action"] not in BY_VEGAS or cell["path"] in FOUR


def papers_bars() -> list[Bar]:
    """The paper's own numbers on its own paths."""

    def one(says: str, path: str, action: str, over: str, low: float | None, high: float | None) -> Bar:
        return misses.bar(MISSES["nice-fig8"], f"{says} {path}", "response", {"path": path, "action": action},
                          {"path": path, "action": over}, low, high)  # fmt: skip

    return [
        *(
            one(f"{action} keeps 97 % on the", path, action, "reno/null", None, 1 / PAPER_KEPT)
            for action, path in (("reno/nice", "modem"), ("reno/nice8", "cable"))
        ),
        *(one("nice/null has half of Reno on", path, "nice/null", "reno/null", None, HALF) for path in FOUR),
        *(
            one(f"reno/reno{count} is fair on", path, f"reno/reno{count}", "reno/null", *FAIR_SHARES[count])
            for count in FAIR_SHARES for path in FOUR
        ),
        *(
            one(f"{action} is as {over} on", path, action, over, *ALIKE)
            for action, over in BY_VEGAS.items() for path in FOUR
        ),
    ]  # fmt: skip


def control(action: str) -> str:
    """The action that another is compared with: its primary alone; a background's and Vegas': Reno alone."""
    return "reno/null" if action in ALONE or action in BY_VEGAS else f"{parts(action)[0]}/null"


def bars(actions: Sequence[str], least: Mapping[str, float] | None = None, most: float | None = None) -> list[Bar]:
    """Throughput kept, found or shared, as the time of the transfer. `least`: beside one and eight."""
    return [
        misses.bar(MISSES["nice-fig8"], f"{action} {path}", "response", {"path": path, "action": action},
                   {"path": path, "action": control(action)},
                   least["8" if "8" in action else ""] if least else None, most)
        for action in actions for path in PATHS
    ]  # fmt: skip


def times(frame: pd.DataFrame) -> pd.DataFrame:
    """Transfer times in seconds, and as multiples of what the same seed's takes alone (a background's: Reno's)."""
    import pandas as pd

    base = frame.set_index(["path", "action", "seed"]).response
    over = base.reindex(pd.MultiIndex.from_arrays([frame.path, frame.action.map(control), frame.seed])).to_numpy()
    kinds = ((ALONE, "background alone"), (SHARED, "the same"), (BESIDE, "yielding"), (tuple(BY_VEGAS), "Vegas"))
    what = {action: kind for actions, kind in kinds for action in actions}
    return frame.assign(
        seconds=frame.response / 1e3,
        times=frame.response / over,
        beside=frame.action.map(lambda action: what.get(action, "nothing")),
    )


EXPERIMENTS["nice-fig8"] = Experiment(
    title="Large transfers over eight paths: primary/secondary, how long the primary takes",
    claim="On a modem, when Reno flows compete with a single Nice flow, they receive 97 % of the bandwidth that they "
    "have alone; on a cable modem, with eight Nice flows, 97 %. Nice/NULL is a significant fraction of Reno/NULL. "
    "Reno/Reno and Reno/Reno8 show fair sharing.",
    differs="Models of the four paths, and of four of today's, instead of the Internet; no cross traffic. "
    "Secondaries last until the primary has ended. A transfer takes Reno 10 s, on the fibre 3.",
    sweep={"path": tuple(PATHS), "action": ACTIONS},
    exists=exists,
    scenario=transfer,
    figures=[Figure("action", "seconds", "beside", "primary/secondary", "transfer, s", panel="path", kind="bars")],
    seeds=2,
    more_seeds=[
        ({"path": "satellite"}, 3), *(({"path": path}, 4) for path in ("modem", "cable", "london", "lte", "wifi")),
        *(({"path": "delaware", "action": action}, 4) for action in ("reno/null", "reno/reno8")),
    ],
    quick={"path": ("cable",), "action": ("reno/null", "reno/nice8", "reno/netnice8", "nice/null", "netnice/null")},
    pinned={"response": 0.03},
    bars=[*bars(BESIDE, most=1 / KEPT), *bars(ALONE, most=1 / FOUND), *bars(SHARED, FAIR), *papers_bars()],
    tables=[
        Table("beside", ("action",), "path", [Number("times", 2, most=1 / KEPT)], {"beside": "yielding"}),
        Table("shared", ("action",), "path", [Number("times", 1)], {"beside": "the same"}),
        Table("alone", ("action",), "path", [Number("times", 2, most=1 / FOUND)], {"beside": "background alone"}),
        Table("vegas", ("action",), "path", [Number("times", 1)], {"beside": "Vegas"}),
    ],
    derive=times,
)  # fmt: skip
