# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Two homes behind a modem visit a site that tells browsers what to prefetch: figure 10's lines.

The paper only names them: here they are those of demo/prefetching, which plays the same over netnice-path.
"""

from dataclasses import dataclass

from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.visits import Visits

FOREGROUND = "reno"
WARM_UP, END = 20.0, 5.0
"""Seconds before what is measured, and for the reports after it."""


@dataclass(frozen=True)
class Line:
    """Bit/s both ways, microseconds of RTT, bytes of buffer, seconds measured."""

    rate: int
    rtt: int
    buffer: int
    seconds: float

    def network(self) -> Topology:
        """The narrow line between the provider and the modem, both homes behind it."""
        pipe = Pipe(self.rate, Queue(bytes=self.buffer))
        return Topology(
            ("site", "home0", "home1"),
            ("isp", "modem"),
            (
                Link("isp", "site", forward=Pipe(delay=self.rtt)),
                Link("isp", "modem", forward=pipe, back=pipe),
                Link("modem", "home0"),
                Link("modem", "home1"),
            ),
        )


LINES = {"cable": Line(5_000_000, 30_000, 60_000, 60.0), "modem": Line(56_000, 150_000, 15_000, 110.0)}


def visited(line: str, preset: str, protocol: str, seed: int) -> Scenario:
    """Sixteen users; `preset` is 'none' or the proxy's."""
    chosen = LINES[line]
    visits = Visits(
        "site",
        ("home0", "home1"),
        protocol,
        "" if preset == "none" else preset,
        FOREGROUND,
        warm_up=WARM_UP,
        seconds=chosen.seconds,
    )
    sysctls = (("ipv4/tcp_congestion_control", FOREGROUND),)
    return Scenario(chosen.network(), (visits,), WARM_UP + chosen.seconds + END, WARM_UP, seed, sysctls=sysctls)
