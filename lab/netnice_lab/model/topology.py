# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Topology as data: hosts, routers and the links between them, rendered as ip and tc commands.

A link has two directions, each a pipe: a queue drained at a rate, then a delay. The queue sits on the sending
device. If there is a queue, the delay is on an ifb at the receiving side. On a device with a rate it would be
before or inside the queue instead of after it. No delay ever sits on the device
of a host that sends: there it would hold back TCP's small-queue accounting.
"""

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property

from netnice_lab.errors import LabError

ETHERNET = 14
"""Bytes a frame has beyond its IP packet: rates and byte limits count them, as tc does."""


@dataclass(frozen=True)
class Queue:
    """A queue discipline and its size.

    kind: 'fifo' (packets or bytes), 'priority' (two such fifos; TOS low-delay goes first), 'red' (bytes; ECN).
    'fq_codel', 'codel', 'pie', 'fq' and 'cake' keep their own defaults beyond the limit. 'cake-diffserv3' and
    'cake-diffserv4' have tins by the mark, 'cake' has one.
    """

    kind: str = "fifo"
    packets: int = 0
    bytes: int = 0
    ecn: bool = False
    average_packet: int = 0

    KINDS = ("fifo", "priority", "red", "fq_codel", "codel", "pie", "fq", "cake", "cake-diffserv3", "cake-diffserv4")

    def __post_init__(self) -> None:
        if self.kind not in self.KINDS:
            raise LabError(f"unknown queue '{self.kind}'", "", f"choose one of {', '.join(self.KINDS)}")
        if self.packets < 0 or self.bytes < 0 or not (self.packets or self.bytes):
            raise LabError(
                f"impossible {self.kind} queue",
                f"packets={self.packets}, bytes={self.bytes}",
                "give a positive number of packets or bytes",
            )

    def fifo(self) -> str:
        """A drop-tail queue of this size."""
        return f"pfifo limit {self.packets}" if self.packets else f"bfifo limit {self.bytes}"

    def commands(self, device: str, parent: str, rate: int) -> list[str]:
        """The tc commands that put the queue under `parent` of `device`."""
        add = f"qdisc add dev {device} parent {parent} handle 10:"
        if self.kind == "fifo":
            return [f"{add} {self.fifo()}"]
        if self.kind == "priority":
            # Linux maps TOS 0x10 (low delay) to priority 6: band 0. Everything else: band 1.
            bands = " ".join("0" if priority == 6 else "1" for priority in range(16))
            return [
                f"{add} prio bands 2 priomap {bands}",
                f"qdisc add dev {device} parent 10:1 {self.fifo()}",
                f"qdisc add dev {device} parent 10:2 {self.fifo()}",
            ]
        packet = self.average_packet or 1000
        size = self.bytes or self.packets * packet
        if self.kind == "red":
            low, high = size // 3, 2 * size // 3
            burst = max(1, (2 * low + high) // (3 * packet)) + 1
            mark = "ecn" if self.ecn else ""
            return [
                f"{add} red limit {size} min {low} max {high} avpkt {packet} burst {burst} "
                f"probability 0.1 bandwidth {rate}bit {mark}"
            ]
        if self.kind.startswith("cake"):
            return [f"{add} cake {self.kind.partition('-')[2] or 'besteffort'} memlimit {size}"]
        ecn = {"fq_codel": "ecn", "codel": "ecn", "pie": "ecn"}.get(self.kind, "") if self.ecn else ""
        ecn = ecn or {"fq_codel": "noecn", "codel": "noecn", "pie": "noecn"}.get(self.kind, "")
        return [f"{add} {self.kind} limit {max(1, size // packet)} {ecn}"]


@dataclass(frozen=True)
class Pipe:
    """One direction of a link. rate in bit/s (0: infinite), delay and jitter in microseconds, loss as a part of 1.

    `slots`: least and most microseconds between two moments at which all that waits arrives at once, as a radio's
    aggregated frames do. `burst`: bytes that pass at once after a silence, as a policer lets them (0: one packet).
    """

    rate: int = 0
    queue: Queue | None = None
    delay: int = 0
    jitter: int = 0
    loss: float = 0.0
    slots: tuple[int, int] | None = None
    burst: int = 0

    def __post_init__(self) -> None:
        if self.rate < 0 or self.delay < 0 or self.jitter < 0 or self.burst < 0 or not 0 <= self.loss < 1:
            raise LabError(
                "impossible link",
                f"rate={self.rate}, delay={self.delay}, jitter={self.jitter}, loss={self.loss}",
                "rates, delays and jitter are at least 0, loss is in [0, 1)",
            )
        if self.slots and not 0 < self.slots[0] <= self.slots[1]:
            raise LabError("impossible link", f"slots={self.slots}", "give the least and the most time between two")
        if bool(self.rate) != (self.queue is not None):
            raise LabError("a rate and a queue belong together", "only one of them was given")

    @property
    def netem(self) -> str:
        """The arguments of the delay, empty if there is none."""
        if not (self.delay or self.jitter or self.loss or self.slots):
            return ""
        jitter = f" {self.jitter}us" if self.jitter else ""
        loss = f" loss {self.loss * 100:g}%" if self.loss else ""
        slots = f" slot {self.slots[0]}us {self.slots[1]}us" if self.slots else ""
        return f"netem delay {self.delay}us{jitter}{loss}{slots} limit 1000000"


@dataclass(frozen=True)
class Link:
    """A link from `a` to `b`: what `a` sends passes `forward`, what `b` sends passes `back`."""

    a: str
    b: str
    forward: Pipe = field(default_factory=Pipe)
    back: Pipe = field(default_factory=Pipe)
    mtu: int = 1500


@dataclass(frozen=True)
class Topology:
    """Hosts, routers and links. `initial_window`: a host's first window in segments, if not Linux's ten.

    `quick_acks`: hosts that acknowledge every segment at once. `default_routes`: a host with one link has one route,
    not one to every other host; of some hundred hosts these would be most of a run. `ipv6`: every node has an IPv6
    address too, its IPv4 address below fd00::.
    """

    hosts: tuple[str, ...]
    routers: tuple[str, ...]
    links: tuple[Link, ...]
    initial_window: tuple[tuple[str, int], ...] = ()
    quick_acks: tuple[str, ...] = ()
    ecn: bool = False
    default_routes: bool = False
    ipv6: bool = False

    def __post_init__(self) -> None:
        nodes = self.hosts + self.routers
        if len(set(nodes)) != len(nodes):
            raise LabError("impossible topology", "two nodes have the same name", "rename one")
        if long := [node for node in nodes if not 1 <= len(node) <= 8]:
            raise LabError("impossible topology", f"the name '{long[0]}'", "use one to eight characters")
        for link in self.links:
            if missing := [n for n in (link.a, link.b) if n not in nodes]:
                raise LabError(
                    "impossible topology",
                    f"a link names '{missing[0]}', which is no host or router",
                    f"choose from {', '.join(nodes)}",
                )
            if not 256 <= link.mtu <= 65535:
                raise LabError("impossible topology", f"MTU {link.mtu}", "use 256 to 65535 bytes")
        for node in nodes:
            if unreachable := sorted(set(nodes) - set(self.next_hops(node)) - {node}):
                raise LabError("impossible topology", f"{node} cannot reach {unreachable[0]}", "add a link")

    @cached_property
    def addresses(self) -> dict[str, str]:
        """The address of every node: that of its first link."""
        found: dict[str, str] = {}
        for number, link in enumerate(self.links):
            for node, last in ((link.a, 1), (link.b, 2)):
                found.setdefault(node, f"10.{number // 250}.{number % 250}.{last}")
        return found

    def address(self, host: str) -> str:
        """The address of a host."""
        if host not in self.addresses:
            raise LabError("impossible topology", f"{host} has no link", "add a link")
        return self.addresses[host]

    def bottleneck(self) -> tuple[str, str]:
        """Node and device of the slowest queue."""
        slow = [
            (pipe.rate, node, self.device(node, number))
            for number, link in enumerate(self.links)
            for node, pipe in ((link.a, link.forward), (link.b, link.back))
            if pipe.rate
        ]
        if not slow:
            raise LabError("impossible topology", "no link has a rate", "give one link a rate")
        _, node, device = min(slow)
        return node, device

    @staticmethod
    def device(node: str, number: int) -> str:
        """The name of a node's device on a link."""
        return f"{node}-{number}"

    @cached_property
    def neighbours(self) -> dict[str, list[tuple[int, str]]]:
        """Of every node (link number, node at the other end) of every link."""
        found: dict[str, list[tuple[int, str]]] = {node: [] for node in self.hosts + self.routers}
        for number, link in enumerate(self.links):
            found[link.a].append((number, link.b))
            found[link.b].append((number, link.a))
        return found

    def next_hops(self, node: str) -> dict[str, int]:
        """For every other node the link of `node` that leads there by the fewest hops."""
        via: dict[str, int] = {}
        waiting = deque((other, number) for number, other in self.neighbours[node])
        while waiting:
            other, first = waiting.popleft()
            if other in via or other == node:
                continue
            via[other] = first
            if other in self.routers:
                waiting.extend((far, first) for _, far in self.neighbours[other])
        return via

    def routes(self, node: str) -> list[tuple[str, int]]:
        """(host, number of the link that leads there) for every route of a node; no host: all that there are."""
        if self.default_routes and node in self.hosts and len(self.neighbours[node]) == 1:
            return [("", self.neighbours[node][0][0])]
        return [(other, n) for other, n in sorted(self.next_hops(node).items()) if other in self.hosts]

    def devices(self) -> list[tuple[str, str]]:
        """(node, device) of every end of every link."""
        return [
            (node, self.device(node, number)) for number, link in enumerate(self.links) for node in (link.a, link.b)
        ]

    def setup(self) -> str:
        """The shell script that builds the topology in a guest: a few batches of ip and tc."""
        nodes = self.hosts + self.routers
        script = ["ip -batch - <<END"]
        script += [f"netns add {node}" for node in nodes]
        for n, link in enumerate(self.links):
            script.append(
                f"link add {self.device(link.a, n)} address 02:00:00:00:{n:02x}:01 mtu {link.mtu} "
                f"netns {link.a} type veth peer name {self.device(link.b, n)} "
                f"address 02:00:00:00:{n:02x}:02 mtu {link.mtu} netns {link.b}"
            )
        script.append("END")
        for node in nodes:
            script += self.node_setup(node)
        return "\n".join(script) + "\n"

    def node_setup(self, node: str) -> list[str]:
        """Addresses, routes and queues of one node."""
        ip, tc = ["link set lo up"], []
        for n, _ in self.neighbours[node]:
            link, device = self.links[n], self.device(node, n)
            mine, theirs = (1, 2) if node == link.a else (2, 1)
            net = f"10.{n // 250}.{n % 250}"
            ip += [
                f"addr add {net}.{mine}/24 dev {device}",
                f"link set {device} up",
                f"neigh add {net}.{theirs} lladdr 02:00:00:00:{n:02x}:{theirs:02x} nud permanent dev {device}",
            ]
            if self.ipv6:
                ip += [
                    f"addr add fd00::{net}.{mine}/120 dev {device} nodad",
                    f"neigh add fd00::{net}.{theirs} lladdr 02:00:00:00:{n:02x}:{theirs:02x} nud permanent "
                    f"dev {device}",
                ]
            send, receive = (link.forward, link.back) if node == link.a else (link.back, link.forward)
            tc += self.send_side(device, send, link.mtu)
            if receive.rate and receive.netem:
                ip += [f"link add {device}-in type ifb", f"link set {device}-in up"]
                tc += [
                    f"qdisc add dev {device}-in root {receive.netem}",
                    f"qdisc add dev {device} ingress",
                    f"filter add dev {device} ingress matchall action mirred egress redirect dev {device}-in",
                ]
        window = dict(self.initial_window).get(node)
        for other, n in self.routes(node):
            link = self.links[n]
            gateway = f"10.{n // 250}.{n % 250}.{2 if node == link.a else 1}"
            extra = f" initcwnd {window}" if window else ""
            extra += " quickack 1" if node in self.quick_acks else ""
            to = f"{self.address(other)}/32" if other else "default"
            ip.append(f"route replace {to} via {gateway}{extra}")
            if self.ipv6:
                ip.append(f"route replace fd00::{self.address(other)}/128 via fd00::{gateway}{extra}")
        script = [f"ip -n {node} -batch - <<END", *ip, "END"]
        if self.ipv6:
            script.insert(0, f"ip netns exec {node} sh -c 'echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6'")
        if tc:
            script += [f"tc -n {node} -batch - <<END", *tc, "END"]
        return script

    @staticmethod
    def send_side(device: str, pipe: Pipe, mtu: int) -> list[str]:
        """The queue and rate of a sending device, or its delay if it has no queue."""
        if not pipe.rate or pipe.queue is None:
            return [f"qdisc add dev {device} root {pipe.netem}"] if pipe.netem else []
        burst = pipe.burst or mtu + ETHERNET + 66  # one packet, and room for tc's rounding
        return [
            f"qdisc add dev {device} root handle 1: tbf rate {pipe.rate}bit burst {burst} limit 100000000",
            *pipe.queue.commands(device, "1:1", pipe.rate),
        ]


def dumbbell(
    rate: int,
    rtt: int,
    queue: Queue,
    mtu: int = 1500,
    foreground_window: int = 0,
    loss: float = 0.0,
    jitter: int = 0,
    ecn: bool = False,
    quick_acks: bool = False,
) -> Topology:
    """Two sending hosts, a router, a receiving host: one bottleneck, one propagation RTT (microseconds).

    All of the propagation delay is on the way of the ACKs, where it costs no second device.
    """
    access = Pipe(delay=rtt)
    return Topology(
        hosts=("www", "bulk", "home"),
        routers=("router",),
        links=(
            Link("www", "router", back=access, mtu=mtu),
            Link("bulk", "router", back=access, mtu=mtu),
            Link("router", "home", forward=Pipe(rate, queue, jitter=jitter, loss=loss), mtu=mtu),
        ),
        initial_window=(("www", foreground_window),) if foreground_window else (),
        quick_acks=("home",) if quick_acks else (),
        ecn=ecn,
    )
