# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is claimed of a kernel, and what a machine's report must have for it to be true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernels.machine import Report, Step

Steps = dict[str, Step]


def _well(steps: Steps, *names: str) -> bool:
    return all(name in steps and steps[name].status == 0 for name in names)


def _status(steps: Steps) -> Any:
    return steps["status"].json()


def _loads(steps: Steps) -> bool:
    """Programs for everybody, too; and it is told where the kernel does not list connections."""
    bare = steps["bare"].json()
    told = bare["condition"] == "up" and bare["connections_untold"] is not None
    return told and _well(steps, "up", "bare", "status") and _status(steps)["loaded"]["hindered"] is None


def _sends(steps: Steps) -> bool:
    counters = _status(steps)["niceness"]["counters"]
    failed = counters["cc_failed"] + counters["mark_failed"]
    return _well(steps, "upload") and counters["passive"] == 1 and failed == 0


def _receives(steps: Steps) -> bool:
    counters = _status(steps)["receiver"]["counters"]
    # One in use, too: that of the step `waiting`.
    begun = (counters["connections"], counters["adopted"])
    return _well(steps, "download") and begun == (2, 1) and counters["clamp_failed"] == 0


def _moves(steps: Steps) -> bool:
    found = steps["running"].json()
    return bool(found["own"]["level"] == 2 and found["connections"] == {"netnice2": 1})


def _attaches(steps: Steps) -> bool:
    found = steps["attached"].json()
    causes = [(cause["by_rule"], cause["level"]) for cause in found["causes"]]
    return causes == [(True, 1), (False, 2)] and bool(found["in_effect"]["level"] == 2)


def _accepts(steps: Steps) -> bool:
    """The listening socket and what waits for it."""
    return "processes: 1, their TCP sockets: 2" in steps["waiting"].said


#: Of kernels that are new enough, as the table has them.
CLAIMS: dict[str, Callable[[Steps], bool]] = {
    "nothing missing": lambda steps: _well(steps, "doctor"),
    "all loads": _loads,
    "a user's command": lambda steps: _well(steps, "user") and steps["user"].said == "1\n",
    "sends": _sends,
    "receives": _receives,
    "`-p`": _moves,
    "`attach`, `policy`": _attaches,
    "not accepted yet": _accepts,
    "behind `fq`": lambda steps: "qdisc fq" in steps["behind_fq"].said and _well(steps, "behind_fq"),
    "the verifier's work as before": lambda steps: _well(steps, "verifier"),
    "nothing left": lambda steps: _well(steps, "down", "left", "end"),
}


def holds(claim: str, report: Report) -> bool | None:
    """``None``: it did not come to it."""
    try:
        return CLAIMS[claim](report.steps)
    except KeyError:
        return None
