# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Traffic as data: sender, receiver, bytes and time. All randomness is drawn here, from the seed of the run."""

from dataclasses import dataclass, field

import numpy as np

from netnice_lab.errors import LabError
from netnice_lab.model.visits import SCRIPT, Visits

FOREGROUND_TOS = 0x10
"""Low delay: the priority queue's first band. Nothing else looks at it."""
SECOND = 1_000_000
IPV4, MAPPED, IPV6 = 0, 1, 2
"""As lab/guest/guest.h has them."""


@dataclass(frozen=True)
class Bulk:
    """Permanently backlogged flows from `source` to `sink`, each started at a random time in `start` (seconds).

    `rate`: a limit on each flow in bit/s of payload (0: none). `stop`: when they end (0: never). `receiver`: the
    sink's connections belong to the receiver's cgroup. `on`, `off`: seconds of sending and of silence in turns.
    `messages` of `message` bytes come first, `gap` seconds apart; `bytes` in all (0: without end). `user` owns the
    sockets; `family`: what they talk, IPV4, MAPPED (IPv6 sockets that talk IPv4) or IPV6. `sink_control`: what the
    sink's own sockets run on. `reads`: bit/s that the sink's program reads, until how many seconds.
    """

    source: str
    sink: str
    flows: int
    congestion_control: str
    start: tuple[float, float] = (0.0, 1.0)
    stop: float = 0.0
    rate: int = 0
    tos: int = 0
    group: str = "background"
    receiver: bool = False
    on: float = 0.0
    off: float = 0.0
    bytes: int = 0
    message: int = 0
    messages: int = 0
    gap: float = 0.0
    user: int = 0
    family: int = IPV4
    sink_control: str = "reno"
    reads: tuple[int, float] = (0, 0.0)

    def __post_init__(self) -> None:
        """Messages at one instant would keep virtual time there."""
        if self.messages and self.gap <= 0:
            raise LabError(f"{self.messages} messages with no gap", "time would stand still", "give a gap in seconds")


@dataclass(frozen=True)
class Document:
    """One document: when it is asked for (seconds; with closed clients: after the previous one), bytes, client."""

    at: float
    size: int
    client: int


@dataclass(frozen=True)
class Documents:
    """Documents from `server` to the clients at `home`; fresh connections or one persistent one a client.

    `from_log`: a log given with --trace may stand in for them, as many seconds of it (0: none may). `group`: what a
    scenario's own measure knows them by.
    """

    server: str
    home: str
    documents: tuple[Document, ...]
    congestion_control: str
    persistent: bool = False
    closed: bool = False
    tos: int = FOREGROUND_TOS
    from_log: float = 0.0
    group: str = ""


@dataclass(frozen=True)
class OnOff:
    """UDP sources with ON and OFF times from a Pareto distribution; `rate` in bit/s while ON."""

    source: str
    sink: str
    sources: int
    rate: int
    packet: int = 512
    mean_on: float = 0.5
    mean_off: float = 0.5
    shape: float = 1.5
    tos: int = FOREGROUND_TOS


@dataclass(frozen=True)
class Datagrams:
    """UDP at a constant rate (bit/s) from `start` to `stop` (seconds), whatever becomes of it."""

    source: str
    sink: str
    rate: int
    start: float
    stop: float
    packet: int = 1500
    tos: int = 0


@dataclass(frozen=True)
class Change:
    """A tc command for a node at a time: rates and delays that vary."""

    at: float
    node: str
    command: str


@dataclass(frozen=True)
class Script:
    """A shell script of the guest that starts at a time and goes on beside the traffic."""

    at: float
    file: str


Traffic = Bulk | Documents | OnOff | Datagrams | Change | Script | Visits


@dataclass
class Plan:
    """The lines the guest plays, what the numbers of flows and document clients mean, and what else is to be there."""

    duration: float
    warm_up: float
    seed: int
    addresses: dict[str, str]
    lines: list[str] = field(default_factory=list)
    groups: dict[str, list[int]] = field(default_factory=dict)
    readers: dict[str, list[int]] = field(default_factory=dict)
    setup: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    ports: int = 5000
    clients: int = 0
    sources: int = 0
    flows: int = 0

    def port(self) -> int:
        """The next unused port."""
        self.ports += 1
        return self.ports

    def random(self, port: int) -> np.random.Generator:
        """The random numbers of one piece of traffic: what comes after it does not change them."""
        return np.random.Generator(np.random.PCG64([self.seed, port]))

    def add(self, traffic: Traffic) -> None:
        """Append what a piece of traffic does."""
        match traffic:
            case Bulk():
                self.add_bulk(traffic)
            case Documents():
                self.add_documents(traffic)
            case OnOff():
                self.add_on_off(traffic)
            case Datagrams():
                self.add_datagrams(traffic)
            case Script():
                self.lines.append(f"change {traffic.at * SECOND:.0f} bash {traffic.file} &")
            case Visits():
                self.setup.append(traffic.setup(self.seed, self.addresses))
                self.lines.append(f"change 0 bash {SCRIPT} &")
                self.reports += traffic.reports
            case Change():
                self.lines.append(f"change {traffic.at * SECOND:.0f} tc -n {traffic.node} {traffic.command}")

    def add_bulk(self, bulk: Bulk) -> None:
        """Every flow has its own random start: equal starts would move in step."""
        if bulk.flows < 0 or bulk.flows > 4000:
            raise LabError(f"{bulk.flows} flows", "", "use 0 to 4000")
        port = self.port()
        random = self.random(port)
        made = bulk.user or bulk.family
        if made:
            self.lines.append(f"maker {bulk.user} {bulk.family}")
        read = f"{bulk.reads[0] // 8} {bulk.reads[1] * SECOND:.0f}"
        sink = f"sink {bulk.sink} {port} {bulk.sink_control} {read}"
        self.lines += ["cgroup background", sink, "cgroup ."] if bulk.receiver else [sink]
        for start in random.uniform(*bulk.start, size=bulk.flows):
            self.groups.setdefault(bulk.group, []).append(self.flows)
            self.lines.append(
                f"bulk {self.flows} {bulk.source} {self.addresses[bulk.sink]} {port} "
                f"{bulk.congestion_control} {bulk.tos} {start * SECOND:.0f} {bulk.stop * SECOND:.0f} "
                f"{bulk.rate // 8}"
            )
            if bulk.on:
                pulse = f"{bulk.on * SECOND:.0f} {bulk.off * SECOND:.0f}"
                self.lines.append(f"pulse {self.flows} {pulse}")
            if bulk.bytes or bulk.messages:
                shape = f"{bulk.bytes} {bulk.message} {bulk.messages} {bulk.gap * SECOND:.0f}"
                self.lines.append(f"shape {self.flows} {shape}")
            self.flows += 1
        if made:
            self.lines.append("maker 0 0")

    def add_documents(self, work: Documents) -> None:
        """A server, the clients, and each client's schedule."""
        port = self.port()
        self.lines.append(f"server {work.server} {port} {work.congestion_control} {work.tos}")
        mode = ("persistent" if work.persistent else "fresh") + ("-closed" if work.closed else "")
        first = self.clients
        names = sorted({document.client for document in work.documents})
        numbers = {name: first + i for i, name in enumerate(names)}
        self.clients += len(names)
        if work.group:
            self.readers.setdefault(work.group, []).extend(numbers.values())
        for number in numbers.values():
            self.lines.append(f"client {number} {work.home} {self.addresses[work.server]} {port} {mode}")
        self.lines += [f"document {numbers[d.client]} {d.at * SECOND:.0f} {d.size}" for d in work.documents]

    def add_on_off(self, work: OnOff) -> None:
        """Each source alternates; a heavy tail (shape < 2) makes the sum bursty at every time scale."""
        if work.shape <= 1:
            raise LabError(f"Pareto shape {work.shape}", "its mean is infinite", "use more than 1")
        port = self.port()
        random = self.random(port)
        self.lines.append(f"udpsink {work.sink} {port}")
        scale = (work.shape - 1) / work.shape
        for _ in range(work.sources):
            number = self.add_source(work, port)
            at = random.uniform(0, work.mean_on + work.mean_off)
            while at < self.duration:
                on = work.mean_on * scale * (1 + random.pareto(work.shape))
                off = work.mean_off * scale * (1 + random.pareto(work.shape))
                end = min(at + on, self.duration)
                if end - at > 1e-3:
                    self.lines.append(f"burst {number} {at * SECOND:.0f} {end * SECOND:.0f} {work.rate}")
                at += on + off

    def add_datagrams(self, work: Datagrams) -> None:
        """One burst as long as the whole."""
        port = self.port()
        self.lines.append(f"udpsink {work.sink} {port}")
        number = self.add_source(work, port)
        self.lines.append(f"burst {number} {work.start * SECOND:.0f} {work.stop * SECOND:.0f} {work.rate}")

    def add_source(self, work: OnOff | Datagrams, port: int) -> int:
        """A UDP socket and its number."""
        number = self.sources
        self.sources += 1
        self.lines.append(
            f"udp {number} {work.source} {self.addresses[work.sink]} {port} {work.tos} {work.packet - 28}"
        )
        return number

    def text(self) -> str:
        """The whole plan."""
        head = [f"duration {self.duration * SECOND:.0f}", f"measure {self.warm_up * SECOND:.0f}"]
        return "\n".join([*head, *self.lines]) + "\n"
