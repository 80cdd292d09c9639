# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the background can be: names as in the figures, and what they mean in the guest."""

import re
from dataclasses import dataclass

from netnice_lab.errors import LabError
from netnice_lab.model.parameters import Parameters

VEGAS = "/sys/module/tcp_vegas/parameters"
Values = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Protocol:
    """A congestion control of the guest, its parameters, and what else the baseline needs.

    `knobs`: files of the guest and what is written to them. `priority`: the router helps. `rate_part`: the background
    as a whole is limited to this part of the spare capacity.
    """

    name: str
    congestion_control: str
    parameters: Values = ()
    knobs: tuple[tuple[str, str], ...] = ()
    priority: bool = False
    rate_part: float = 0.0
    none: bool = False

    def with_parameters(self, **values: int) -> "Protocol":
        """The same protocol with other parameters of its core."""
        merged = dict(self.parameters) | values
        return Protocol(self.name, self.congestion_control, tuple(sorted(merged.items())), self.knobs)

    def with_threshold(self, percent: int) -> "Protocol":
        """TCP Nice with another threshold."""
        return self.with_parameters(threshold=percent)


def vegas(alpha: int, beta: int) -> Protocol:
    """The kernel's own Vegas: the paper's Vegas(alpha, beta)."""
    gamma = max(alpha, 1)
    knobs = tuple(
        (f"{VEGAS}/{name}", str(value)) for name, value in (("alpha", alpha), ("beta", beta), ("gamma", gamma))
    )
    return Protocol(f"vegas-{alpha}-{beta}", "vegas", knobs=knobs)


KNOWN = {
    p.name: p
    for p in (
        Protocol("none", "reno", none=True),
        Protocol("priority", "reno", priority=True),
        Protocol("reno", "reno"),
        Protocol("cubic", "cubic"),
        Protocol("bbr", "bbr"),
        Protocol("lp", "lp"),
        vegas(1, 3),
        vegas(0, 0),
    )
}
FORMS = f"{', '.join(KNOWN)}, nice-<threshold, e.g. 0.1>, nice, netnice, reno-at-<percent of the spare>"


def protocol(name: str) -> Protocol:
    """The protocol of a name."""
    if name in KNOWN:
        return KNOWN[name]
    if found := re.fullmatch(r"nice-(0\.\d+|1(?:\.0)?)", name):
        return Protocol(name, "nice").with_threshold(round(float(found[1]) * 100))
    if found := re.fullmatch(r"reno-at-(\d+)", name):
        return Protocol(name, "reno", rate_part=int(found[1]) / 100)
    if name in Parameters.read().rows:
        return Protocol(name, name)
    raise LabError(
        f"unknown protocol '{name}'", "", f"choose one of {FORMS}, or an algorithm of algorithms/sender/table.h"
    )
