# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Lines that people have: both directions narrow, routes that change, radio. Pages load over them.

The radio lines are those of TCP Nice's figure 8: LTE by a drive's trace, Wi-Fi with frames, a satellite whose RTT
steps.
"""

from dataclasses import dataclass, replace

from experiments.frontier import many_users
from experiments.low_priority.access import ROOMY
from experiments.tcp_nice.internet import PATHS
from netnice_lab.judgement import misses
from netnice_lab.model.background import finish
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Value
from netnice_lab.model.foreground import DRAIN
from netnice_lab.model.protocols import Protocol, protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Change, Documents, Traffic

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}

DURATION, WARM_UP = 60.0, 15.0
START = (0.5, 2.5)
FLOWS = 2
"""Of the background, each way."""
LOAD = 0.1
"""Part of the line that the pages take on average."""


@dataclass(frozen=True)
class Line:
    """Bit/s from the house and to it, microseconds of RTT, seconds that a full buffer lasts."""

    up: int
    down: int
    rtt: int
    buffer: float = 0.5

    def pipe(self, rate: int, kind: str) -> Pipe:
        """One direction: its rate and its queue."""
        return Pipe(rate, Queue(kind, bytes=round(rate / 8 * self.buffer)))

    def network(self, kind: str) -> Topology:
        """Two hosts at home, a modem, the provider, two hosts far away."""
        narrow = Link("modem", "isp", forward=self.pipe(self.up, kind), back=self.pipe(self.down, kind))
        far = Pipe(delay=self.rtt)
        return Topology(
            ("pc", "user", "www", "peer"),
            ("modem", "isp"),
            (
                Link("pc", "modem"),
                Link("user", "modem"),
                narrow,
                Link("isp", "www", forward=far),
                Link("isp", "peer", forward=far),
            ),
        )


LINES = {
    "symmetric": Line(10_000_000, 10_000_000, 20_000),
    "household": Line(10_000_000, 50_000_000, 20_000),
}


def pages(server: str, home: str, rate: float, seed: int) -> Documents:
    """Pages of many users that take LOAD of `rate` bit/s."""
    return Documents(server, home, many_users(LOAD * rate, DURATION - DRAIN, seed), "cubic")


def kind(chosen: Protocol) -> str:
    """The line's queue: does it know what may wait?"""
    return "priority" if chosen.priority else "fifo"


def at_home(name: str, line: str, way: str, stamps: bool, seed: int) -> Scenario:
    """Uploads, downloads, both, or uploads 'beside' two downloads of CUBIC."""
    chosen, place = protocol(name), LINES[line]
    traffic: list[Traffic] = [pages("www", "user", place.down, seed)]
    if not chosen.none and way != "down":
        traffic.append(Bulk("pc", "peer", FLOWS, chosen.congestion_control, START, group="up"))
    if not chosen.none and way != "up":
        other = "cubic" if way == "beside" else chosen.congestion_control
        traffic.append(Bulk("peer", "pc", FLOWS, other, START, group="down"))
    sysctls = ROOMY if stamps else (*ROOMY, ("ipv4/tcp_timestamps", "0"))
    made = Scenario(place.network(kind(chosen)), tuple(traffic), DURATION, WARM_UP, seed, sysctls=sysctls)
    return finish(made, chosen)


def by_radio(name: str, line: str, seed: int) -> Scenario:
    """Two downloads from one host, pages from another."""
    chosen, path = protocol(name), PATHS[line]
    back = Pipe(delay=path.rtt, jitter=path.jitter)
    queue = Queue(kind(chosen), bytes=path.buffer)
    network = Topology(
        ("www", "bulk", "home"),
        ("router",),
        (
            Link("www", "router", back=back),
            Link("router", "home", forward=Pipe(path.rate, queue, slots=path.slots)),
            Link("bulk", "router", back=back),
        ),
    )
    _, rates = path.rates(DURATION, seed)
    traffic: list[Traffic] = [pages("www", "home", sum(rates) / len(rates), seed)]
    if not chosen.none:
        traffic.append(Bulk("bulk", "home", FLOWS, chosen.congestion_control, START))
    changes, knobs = path.changes(DURATION, seed)
    steps = path.steps(DURATION, seed)
    both = (*steps, *(replace(step, command=step.command.replace("router-0", "router-2")) for step in steps))
    made = finish(Scenario(network, (*traffic, *changes, *both), DURATION, WARM_UP, seed, sysctls=ROOMY), chosen)
    return replace(made, knobs=knobs + made.knobs)


CHANGE, SETTLED, MEASURED = 40.0, 10.0, 20.0
"""Seconds: when the route changes, after how many it should have been found, for how long that is measured."""
NEAR, FAR = 20_000, 120_000
"""Microseconds one way, before and after."""


def two_ways(there: int, back: int, rate: int = 10_000_000, buffer: int = 175_000, jitter: int = 0) -> Topology:
    """Microseconds each way, of a line of so many bit/s with a buffer of so many bytes."""
    return Topology(
        ("bulk", "home"),
        ("router", "modem"),
        (
            Link("bulk", "router", back=Pipe(delay=back)),
            Link("router", "modem", forward=Pipe(rate, Queue("fifo", bytes=buffer))),
            Link("modem", "home", forward=Pipe(delay=there, jitter=jitter)),
        ),
    )


def rerouted(name: str, way: str, step: str, stamps: bool, seed: int) -> Scenario:
    """One flow over 10 Mbit/s, RTT 40 ms: the way 'there' or 'back' becomes 100 ms longer, or as much shorter."""
    chosen = protocol(name)
    before, after = (NEAR, FAR) if step == "up" else (FAR, NEAR)
    there, back = (before, NEAR) if way == "there" else (NEAR, before)
    network = two_ways(there, back)
    node, device = ("modem", "modem-2") if way == "there" else ("router", "router-0")
    change = Change(CHANGE, node, f"qdisc change dev {device} root netem delay {after}us limit 1000000")
    flow = Bulk("bulk", "home", 1, chosen.congestion_control, (0.0, 1.0))
    start = CHANGE + SETTLED
    sysctls = ROOMY if stamps else (*ROOMY, ("ipv4/tcp_timestamps", "0"))
    return finish(Scenario(network, (flow, change), start + MEASURED, start, seed, sysctls=sysctls), chosen)


# Both directions narrow: uploads, downloads, both at once, and uploads beside plain downloads.
WAYS = ("up", "down", "both", "beside")


def exists(cell: Cell) -> bool:
    """Pages alone once a line; without timestamps beside plain downloads only."""
    if cell["protocol"] == "none":
        return cell["way"] == "up" and cell["stamps"] is True
    return cell["stamps"] is True or (cell["way"] == "beside" and cell["protocol"] != "priority")


MISSES["lines-both"] = misses.read(
    {
        "the ACKs wait longer behind a full queue than Vegas can fill, and come in bursts": """
            uploads beside CUBIC's downloads / CUBIC's: symmetric household
        """,
        "without timestamps its RTT holds the queue of the way back, which it takes for one of its own way": """
            uploads beside CUBIC's downloads without timestamps / CUBIC's: symmetric household
        """,
        "two to three segments of its own are always queued, 3 ms of 20 at 10 Mbit/s, and what is in flight when a "
        "page begins cannot be taken back": """
            pages beside uploads / alone: household
            pages beside downloads / alone: symmetric household
            pages beside both / alone: symmetric household
        """,
        "its uploads take 5 % more there, and these keep {mean}; not examined": """
            downloads beside its uploads / alone: symmetric
        """,
        misses.EDGE: """
            uploads beside its downloads / alone: household
        """,
    }
)


def share(says: str, line: str, group: str, beside: str, least: float, stamps: bool = True, **over: Value) -> Bar:
    """Goodput of a group as a part of what it is elsewhere."""
    cell: Cell = {"protocol": "netnice", "line": line, "way": beside, "stamps": stamps}
    return misses.bar(MISSES["lines-both"], f"{says} {line}", group, cell, {**cell, **over}, minimum=least)


def bars(line: str) -> list[Bar]:
    """What one line must show."""
    made = [
        share("uploads / CUBIC's", line, "up", "up", 0.9, protocol="cubic"),
        share("downloads / CUBIC's", line, "down", "down", 0.9, protocol="cubic"),
        share("uploads beside its downloads / alone", line, "up", "both", 0.85, way="up"),
        share("downloads beside its uploads / alone", line, "down", "both", 0.85, way="down"),
        share("uploads beside CUBIC's downloads / CUBIC's", line, "up", "beside", 0.85, protocol="cubic"),
        share("uploads beside CUBIC's downloads without timestamps / CUBIC's", line, "up", "beside", 0.5,
              stamps=False, protocol="cubic"),
    ]  # fmt: skip
    alone: Cell = {"protocol": "none", "line": line, "way": "up", "stamps": True}
    for way, what in (("up", "uploads"), ("down", "downloads"), ("both", "both")):
        cell: Cell = {"protocol": "netnice", "line": line, "way": way, "stamps": True}
        says = f"pages beside {what} / alone {line}"
        made.append(misses.bar(MISSES["lines-both"], says, "latency_geometric", cell, alone, maximum=1.10))
    return made


EXPERIMENTS["lines-both"] = Experiment(
    title="Both directions narrow, half a second of buffer, 20 ms: two flows a way and pages",
    claim="Not in the papers: their way back is empty.",
    sweep={
        "protocol": ("none", "cubic", "priority", "netnice"), "line": tuple(LINES), "way": WAYS,
        "stamps": (True, False),
    },
    scenario=lambda protocol, line, way, stamps, seed: at_home(protocol, line, way, stamps, seed),
    exists=exists,
    figures=[Figure("way", "up", "protocol", "", "uploads, Mbit/s", panel="line")],
    seeds=2,
    quick={"protocol": ("none", "cubic", "netnice"), "line": ("symmetric",), "way": ("up", "beside"),
           "stamps": (True,)},
    pinned={"up": 0.1, "down": 0.1, "latency_geometric": 0.1},
    bars=[bar for line in LINES for bar in bars(line)],
)  # fmt: skip

# Lines whose rate or RTT moves by itself: two downloads beside pages over LTE, Wi-Fi and a satellite.
RADIO = ("lte", "wifi", "satellite")
MISSES["lines-radio"] = misses.read(
    {
        "when the rate falls, what is in flight is a queue that no sender can take back": """
            pages / alone: lte
        """,
        misses.EDGE: """
            pages / alone: wifi
        """,
    }
)
EXPERIMENTS["lines-radio"] = Experiment(
    title="Radio lines: two downloads beside pages that take a tenth of the line",
    claim="Not in the papers, which name jitter and varying rates as a weakness of delays.",
    sweep={"protocol": ("none", "cubic", "priority", "netnice"), "line": RADIO},
    scenario=lambda protocol, line, seed: by_radio(protocol, line, seed),
    figures=[Figure("line", "background", "protocol", "", "downloads, Mbit/s")],
    seeds=2,
    quick={"line": ("lte",)},
    pinned={"background": 0.1, "latency_geometric": 0.1},
    bars=[
        bar
        for line in RADIO
        for bar in (
            misses.bar(MISSES["lines-radio"], f"share of the priority queue's {line}", "background",
                       {"protocol": "netnice", "line": line}, {"protocol": "priority", "line": line}, minimum=0.5),
            misses.bar(MISSES["lines-radio"], f"pages / alone {line}", "latency_geometric",
                       {"protocol": "netnice", "line": line}, {"protocol": "none", "line": line}, maximum=1.08),
        )
    ],
)  # fmt: skip

# A route change: the way there or the way back becomes 100 ms longer or shorter under a flow alone.
CHANGES = tuple((way, step, stamps) for way in ("there", "back") for step in ("up", "down") for stamps in (True, False))


def found(way: str, step: str, stamps: bool) -> Bar:
    """Beside CUBIC over the same change, with and without timestamps."""
    cell: Cell = {"way": way, "step": step, "stamps": stamps}
    return Bar(f"the way {way} {step} {stamps}", "background", {"protocol": "netnice", **cell},
               {"protocol": "cubic", **cell}, minimum=0.9)  # fmt: skip


EXPERIMENTS["lines-route"] = Experiment(
    title="Route change at 10 Mbit/s, RTT 40 and 140 ms: goodput from 10 s to 30 s after it",
    claim="Not in the papers; Nice and LEDBAT name it as a weakness.",
    sweep={
        "protocol": ("cubic", "netnice"), "way": ("there", "back"), "step": ("up", "down"), "stamps": (True, False),
    },
    scenario=lambda protocol, way, step, stamps, seed: rerouted(protocol, way, step, stamps, seed),
    figures=[Figure("way", "background", "protocol", "", "goodput, Mbit/s", panel="step")],
    seeds=1,
    quick={"step": ("up",), "stamps": (True,)},
    pinned={"background": 0.1},
    bars=[found(*change) for change in CHANGES],
)  # fmt: skip
