# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A scenario: everything that decides a run, and the run rendered as text files for a guest."""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from netnice_lab.errors import LabError
from netnice_lab.model.output import Measure
from netnice_lab.model.parameters import Parameters
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.topology import Topology
from netnice_lab.model.tracelog import documents
from netnice_lab.model.traffic import Bulk, Documents, Plan, Traffic
from netnice_lab.model.visits import Visits

SYSCTLS = {
    # what one connection learnt must not leak into the next: every document starts cold
    "ipv4/tcp_no_metrics_save": "1",
    "ipv4/tcp_rmem": "4096 131072 8388608",
    "ipv4/tcp_wmem": "4096 262144 8388608",
    "ipv4/ip_local_port_range": "10000 65535",
}


log_documents = cache(documents)


@dataclass(frozen=True)
class Scenario:
    """Topology, traffic and the parameters of the algorithms under test; times in seconds."""

    topology: Topology
    traffic: tuple[Traffic, ...]
    duration: float
    warm_up: float
    seed: int
    parameters: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    sample: float = 0.0
    sysctls: tuple[tuple[str, str], ...] = ()
    knobs: tuple[tuple[str, str], ...] = ()
    receiver: Receiver | None = None
    measure: Measure | None = None
    without: tuple[str, ...] = ()
    """Mechanisms of the cores that are taken out (engine/changes.py)."""

    def __post_init__(self) -> None:
        if not 0 <= self.warm_up < self.duration:
            raise LabError(
                "impossible scenario",
                f"duration {self.duration} s with a warm-up of {self.warm_up} s",
                "let the warm-up be shorter than the run",
            )

    def with_log(self, log: Path) -> "Scenario":
        """The same with a log's documents where it may stand in for generated ones."""
        traffic = tuple(
            replace(t, documents=log_documents(log, duration=t.from_log))
            if isinstance(t, Documents) and t.from_log
            else t
            for t in self.traffic
        )
        return replace(self, traffic=traffic)

    def render(self, mutants: tuple[str, ...] = ()) -> "Run":
        """Draw everything random and write down what the guest has to do, perhaps with broken cores."""
        hosts = self.topology.hosts
        plan = Plan(self.duration, self.warm_up, self.seed, {h: self.topology.address(h) for h in hosts})
        for node, device in self.topology.devices():
            plan.lines.append(f"device {node} {device}")
        for host in hosts:
            settings = SYSCTLS | dict(self.sysctls)
            settings["ipv4/tcp_ecn"] = "1" if self.topology.ecn else "0"
            plan.lines += [f"sysctl {host} {path} {value}" for path, value in settings.items()]
        plan.lines += [f"sysctl {router} ipv4/ip_forward 1" for router in self.topology.routers]
        if self.topology.ipv6:
            plan.lines += [f"sysctl {router} ipv6/conf/all/forwarding 1" for router in self.topology.routers]
        if self.sample:
            node, device = self.topology.bottleneck()
            plan.lines += [f"sample {self.sample * 1e6:.0f}", f"queue {node} {device}"]
        if self.receiver:
            plan.lines += self.receiver.plan()
        used = {t.congestion_control for t in self.traffic if isinstance(t, Bulk | Documents | Visits)}
        cores = tuple(sorted(used & set(Parameters.read().rows)))
        plan.lines += [f"core {name}" for name in cores]
        for traffic in self.traffic:
            plan.add(traffic)
        receiver = self.receiver.setup() if self.receiver else ""
        return Run(
            setup=self.topology.setup()
            + "".join(f"echo {v} > {file}\n" for file, v in self.knobs)
            + receiver
            + "".join(plan.setup),
            plan=plan.text(),
            seed=self.seed,
            parameters={name: Parameters.read().within(name, dict(values)) for name, values in self.parameters},
            mutants=(*self.without, *mutants),
            cores=cores,
            groups=plan.groups,
            readers=plan.readers,
            reports=tuple(plan.reports),
            window=self.duration - self.warm_up,
            warm_up=self.warm_up,
            receivers=(self.receiver.algorithm,) if self.receiver else (),
            measure=self.measure,
        )


@dataclass(frozen=True)
class Run:
    """A rendered scenario: plain data that any process, here or on a cluster, can execute."""

    setup: str
    plan: str
    seed: int
    parameters: dict[str, dict[str, int]]
    mutants: tuple[str, ...] = ()
    cores: tuple[str, ...] = ()
    """The netnice cores that it uses: a run of other algorithms does not change when the cores do."""
    groups: dict[str, list[int]] = field(default_factory=dict)
    readers: dict[str, list[int]] = field(default_factory=dict)
    reports: tuple[str, ...] = ()
    """What the visits' programs write, beside the guest's own tables."""
    window: float = 0.0
    warm_up: float = 0.0
    receivers: tuple[str, ...] = ()
    """The receiver that its background connections have; none of ours may be one."""
    measure: Measure | None = None
