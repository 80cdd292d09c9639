# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""TCP Nice, figure 8: large transfers, six actions on each of the paper's four paths and on four of today's."""

import pandas as pd

from experiments.tcp_nice.world.internet import PATHS, parts, transfer
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table

PRIMARIES, CORES = ("reno", "cubic"), ("nice", "netnice")
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
)
KEPT, FOUND = 0.98, 0.90
FAIR = {"": 1.3, "8": 5.0}
"""Times as long as alone, at least, beside one and eight of the same: rates vary, so that it is not 2 and 9."""
MISSES = misses.read(
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
        """,
        "they begin with the transfer and leave slow start a little later than they should; then they keep out of its "
        "way, but ten seconds do not make good what the first one cost": """
            reno/nice8: london delaware lte fibre
            cubic/nice8: london delaware lte satellite
            reno/netnice: london delaware fibre
            reno/netnice8: london lte wifi fibre
            cubic/netnice8: london delaware lte wifi fibre satellite
        """,
        "two packets of its own take longer on this line than the threshold allows a queue to be: it halves": """
            nice/null: modem cable
        """,
        "its first queue ends slow start early, and a segment a round trip does not fill the path in ten seconds": """
            nice/null: london delaware fibre
        """,
        "a queue to it is also jitter and a rate that falls": """
            nice/null: lte wifi
            netnice/null: lte wifi
        """,
        "a longer way is a queue to it until it has forgotten the shorter one (lbe-route)": """
            nice/null: satellite
        """,
    }
)


def bars() -> list[Bar]:
    """Throughput kept, found and shared, as the time of the transfer."""
    beside = [
        misses.bar(MISSES, f"{action} {path}", "response", {"path": path, "action": action},
                   {"path": path, "action": f"{parts(action)[0]}/null"}, maximum=1 / KEPT)
        for action in BESIDE for path in PATHS
    ]  # fmt: skip
    alone = [
        misses.bar(MISSES, f"{action} {path}", "response", {"path": path, "action": action},
                   {"path": path, "action": "reno/null"}, maximum=1 / FOUND)
        for action in ALONE for path in PATHS
    ]  # fmt: skip
    shared = [
        misses.bar(MISSES, f"{action} {path}", "response", {"path": path, "action": action},
                   {"path": path, "action": f"{parts(action)[0]}/null"}, minimum=FAIR["8" if "8" in action else ""])
        for action in SHARED for path in PATHS
    ]  # fmt: skip
    return beside + alone + shared


def times(frame: pd.DataFrame) -> pd.DataFrame:
    """Transfer times in seconds, and as multiples of what the same seed's takes alone (a background's: Reno's)."""
    control = frame.action.map(lambda action: f"{parts(action)[0]}/null" if action not in ALONE else "reno/null")
    base = frame.set_index(["path", "action", "seed"]).response
    over = base.reindex(pd.MultiIndex.from_arrays([frame.path, control, frame.seed])).to_numpy()
    kinds = ((ALONE, "background alone"), (SHARED, "the same"), (BESIDE, "yielding"))
    what = {action: kind for actions, kind in kinds for action in actions}
    return frame.assign(
        seconds=frame.response / 1e3,
        times=frame.response / over,
        beside=frame.action.map(lambda action: what.get(action, "nothing")),
    )


experiment = Experiment(
    title="Large transfers over eight paths: primary/secondary, how long the primary takes",
    claim="On a modem, when Reno flows compete with a single Nice flow, they receive 97 % of the bandwidth that they "
    "have alone; on a cable modem, with eight Nice flows, 97 %. Nice/NULL is a significant fraction of Reno/NULL. "
    "Reno/Reno and Reno/Reno8 show fair sharing.",
    differs="Models of the four paths, and of four of today's, instead of the Internet; no cross traffic. "
    "Secondaries last until the primary has ended. A transfer takes Reno 10 s, on the fibre 3.",
    sweep={"path": tuple(PATHS), "action": ACTIONS},
    scenario=transfer,
    figures=[Figure("action", "seconds", "beside", "primary/secondary", "transfer, s", panel="path", kind="bars")],
    seeds=2,
    more_seeds=[
        ({"path": "satellite"}, 3), *(({"path": path}, 4) for path in ("modem", "cable", "london", "lte", "wifi"))
    ],
    quick={"path": ("cable",), "action": ("reno/null", "reno/nice8", "reno/netnice8", "nice/null", "netnice/null")},
    pinned={"response": 0.03},
    bars=bars(),
    tables=[
        Table("beside", ("action",), "path", [Number("times", 2, most=1 / KEPT)], {"beside": "yielding"}),
        Table("shared", ("action",), "path", [Number("times", 1)], {"beside": "the same"}),
        Table("alone", ("action",), "path", [Number("times", 2, most=1 / FOUND)], {"beside": "background alone"}),
    ],
    derive=times,
)  # fmt: skip
