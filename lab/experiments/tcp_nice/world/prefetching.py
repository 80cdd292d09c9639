# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Two homes behind a modem visit a site with prefetch hints: demo/scenes/prefetching.py's links and conditions."""

from demo.scenes.prefetching import FOREGROUND, LINKS, Arm, Conditions, settings
from demo.scenes.prefetching import Link as Line
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.visits import PROXY, SITE, Visits

LINES = {line.key: line for line in LINKS}
HOMES = ("home0", "home1")
END = 5.0
"""Seconds for the reports after all is measured."""


def network(line: Line) -> Topology:
    """The narrow line between the provider and the modem, both homes behind it."""
    pipe = Pipe(line.rate_bps, Queue(bytes=int(line.queue.removesuffix("kB")) * 1000))
    return Topology(
        ("site", *HOMES),
        ("isp", "modem"),
        (
            Link("isp", "site", forward=Pipe(delay=line.rtt_ms * 1000)),
            Link("isp", "modem", forward=pipe, back=pipe),
            *(Link("modem", home) for home in HOMES),
        ),
    )


def visited(line: str, preset: str, protocol: str, seed: int) -> Scenario:
    """Sixteen users; `preset` is 'none' or the proxy's."""
    c, chosen = Conditions(), LINES[line]
    arm = Arm() if preset == "none" else Arm(preset, protocol)
    visits = Visits(
        "site",
        HOMES,
        protocol,
        settings(arm, c, SITE, PROXY),
        users=c.clients_per_host,
        pages=c.pages,
        think=c.think,
        learned=c.learned_visits,
        played=c.played_visits,
        warm_up=c.warmup_s,
        seconds=chosen.seconds,
    )
    duration = c.warmup_s + chosen.seconds + END
    sysctls = (("ipv4/tcp_congestion_control", FOREGROUND),)
    return Scenario(network(chosen), (visits,), duration, c.warmup_s, seed, sysctls=sysctls)
