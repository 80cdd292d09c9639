# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The lab against this machine: the same plan, the same traffic program, the shipped eBPF object, netnice-path.

Three things of the two bottlenecks differ and are made equal here, on the lab's side:

    bytes    the host's path counts IP bytes, the lab's rate and queue count Ethernet frames: the lab's link is faster,
             and its queue larger, by 1514/1500
    service  on the path a packet has left a service time (1.2 ms) after it began to; tbf lets the first one through at
             once and each later one when the one before it is paid for. With the same arrivals every packet leaves tbf
             one service time earlier: the lab's RTT is longer by that
    queue    the path's queue counts the packet being sent, which has left tbf already: the lab's is smaller by one

Without the last two the lab's documents are 5 % faster. These differences stay: the lab's delay is on the reverse path
alone, its timers tick at 1000 Hz, and its kernel is 6.12.
"""

import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netnice_lab.engine import machine, programs
from netnice_lab.errors import LabError
from netnice_lab.measures import results
from netnice_lab.model.foreground import poisson
from netnice_lab.model.output import Output
from netnice_lab.model.receiver import CGROUP, Receiver
from netnice_lab.model.scenario import SYSCTLS, Run, Scenario
from netnice_lab.model.topology import ETHERNET, Queue, Topology, dumbbell
from netnice_lab.model.traffic import Bulk, Document, Documents, Plan, Traffic

RATE, RTT = 10_000_000, 0.02
MTU = 1500
SERVICE = MTU * 8 / RATE
"""Seconds that a full packet takes to be sent."""
WARM_UP = 8.0
SEEDS = 6
"""Runs of the lab: one run on the host cannot be closer to it than they are to each other."""
SHAKE = 1e-3
"""Seconds by which seeds after the first move a document: its latency depends on which packet is dropped."""
GOODPUT, LATENCY = 0.03, 0.10
"""Relative differences that count as agreement."""
RECEIVER = "tide"
"""What 'netnicectl up' chooses."""
GROUP = "netnice/level0-receive"
"""The cgroup of 'netnice --receive-only': the plan's program is sender and receiver, and only its sinks are in it."""
PRIORITY = "-10"
"""Niceness of the traffic on the host, as of everything the testbed runs."""


@dataclass(frozen=True)
class Case:
    """One scenario that both worlds run, and the metric that must agree."""

    name: str
    traffic: tuple[Bulk | Documents, ...]
    metric: str
    tolerance: float

    @property
    def receives(self) -> bool:
        """Whether some of it yields by its receiver."""
        return any(isinstance(t, Bulk) and t.receiver for t in self.traffic)


def cases(seconds: float, seed: int = 1) -> list[Case]:
    """Long flows alone, Nice alone, both together; documents alone and over Nice; the same two of a download.

    The host plays seed 1.
    """
    cubic = Bulk("www", "home", 1, "cubic", start=(0, 0.1), group="foreground")
    nice = Bulk("bulk", "home", 4, "netnice", start=(0.5, 2.5))
    download = Bulk("bulk", "home", 1, "cubic", start=(0.5, 2.5), receiver=True)
    documents = Documents("www", "home", shaken(poisson(RATE / 2, seconds - 3, 1), seed), "cubic")
    return [
        Case("1 CUBIC alone: its goodput", (cubic,), "foreground", GOODPUT),
        Case("4 Nice alone: their goodput", (nice,), "background", GOODPUT),
        Case("1 CUBIC over 4 Nice: its goodput", (cubic, nice), "foreground", GOODPUT),
        Case("documents alone: latency", (documents,), "latency", LATENCY),
        Case("documents over 4 Nice: latency", (documents, nice), "latency", LATENCY),
        Case("1 CUBIC download with TIDE: its goodput", (download,), "background", GOODPUT),
        Case("documents over that download: latency", (documents, download), "latency", LATENCY),
    ]


def shaken(documents: tuple[Document, ...], seed: int) -> tuple[Document, ...]:
    """The same documents, asked for a little later each; as they are with seed 1."""
    if seed == 1:
        return documents
    late = np.random.Generator(np.random.PCG64([seed, 0x5AAE])).uniform(0, SHAKE, len(documents))
    return tuple(replace(d, at=d.at + float(by)) for d, by in zip(documents, late, strict=True))


def equivalent() -> Topology:
    """The lab's network that does to packets what netnice-path does."""
    frame = (MTU + ETHERNET) / MTU
    queue = Queue("fifo", bytes=round((RATE * RTT / 8 - MTU) * frame))
    return dumbbell(round(RATE * frame), round((RTT + SERVICE) * 1e6), queue)


def in_lab(number: int, seconds: float) -> tuple[float, float]:
    """A case in virtual time: mean over the seeds, and twice their relative deviation."""
    values = []
    for seed in range(1, SEEDS + 1):
        case = cases(seconds, seed)[number]
        receiver = Receiver(RECEIVER) if case.receives else None
        run = Scenario(equivalent(), case.traffic, seconds, WARM_UP, seed, receiver=receiver).render()
        values.append(results.metrics(run, machine.execute(run, name=case.name))[case.metric])
    return statistics.mean(values), 2 * statistics.stdev(values) / statistics.mean(values)


def on_host(case: Case, seconds: float) -> tuple[results.Metrics, str]:
    """The case in real time; the second value says why it is void, if it is."""
    from testbed.namespace import Namespace
    from testbed.path import Path as EmulatedPath

    with (
        Namespace("agreea") as a,
        Namespace("agreeb") as b,
        EmulatedPath(a, b, rate=f"{RATE}bit", rtt=f"{RTT * 1e3:g}ms", queue="1bdp") as path,
    ):
        names = {"www": a.name, "bulk": a.name, "home": b.name}
        plan = Plan(seconds, WARM_UP, 1, {a.name: a.address, b.name: b.address})
        settings = SYSCTLS | {"ipv4/tcp_ecn": "0"}
        plan.lines = [f"sysctl {n} {path} {value}" for n in (a.name, b.name) for path, value in settings.items()]
        if case.receives:
            plan.lines += Receiver(RECEIVER).plan()
        for traffic in case.traffic:
            plan.add(placed(traffic, names))
        plan.lines = [grouped(line) for line in plan.lines]
        files = play(plan.text(), seconds)
    run = Run("", "", 1, {}, groups=plan.groups, window=seconds - WARM_UP, warm_up=WARM_UP)
    output = Output(files, seconds, 0.0, "")
    return results.metrics(run, output), "" if path.trusted else "the machine delivered packets late"


def placed(traffic: Bulk | Documents, names: dict[str, str]) -> Traffic:
    """The same traffic between other hosts."""
    if isinstance(traffic, Bulk):
        return replace(traffic, source=names[traffic.source], sink=names[traffic.sink])
    return replace(traffic, server=names[traffic.server], home=names[traffic.home])


def grouped(line: str, mounts: Path = Path("/proc/self/mounts")) -> str:
    """A plan's line with the cgroups of this machine, which may lie beside those of version 1."""
    kind, _, name = line.partition(" ")
    if kind != "cgroup":
        return line
    points = [words[1] for words in map(str.split, mounts.read_text().splitlines()) if words[2] == "cgroup2"]
    if not points:
        raise LabError("no cgroup v2 on this machine", "receivers belong to one", "mount it")
    root = os.path.relpath(points[0], "/sys/fs/cgroup")
    return f"cgroup {root}/{GROUP if name == CGROUP else '.'}"


def play(plan: str, seconds: float) -> dict[str, str]:
    """Run the traffic program on this machine."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "plan").write_text(plan)
        (place / "out").mkdir()
        done = subprocess.run(
            [
                "nice",
                "-n",
                PRIORITY,
                str(programs.guest_programs() / "traffic"),
                str(place / "plan"),
                str(place / "out"),
            ],
            capture_output=True,
            text=True,
            timeout=seconds + 60,
        )
        if done.returncode != 0:
            raise LabError("the traffic program failed on this host", done.stdout.strip(), "be root; see its words")
        return {name: (place / "out" / name).read_text() for name in machine.OUTPUTS}


def main(seconds: int) -> int:
    """Print one line a case; 1 if one disagrees."""
    try:
        from testbed.programs import TestbedError, netnice_up
    except ImportError as error:
        raise LabError("no testbed in this clone", str(error), "use a complete clone") from error
    try:
        with netnice_up():
            return compare(seconds)
    except TestbedError as error:
        raise LabError("the host's side cannot run", str(error), "make build, and be root") from error


def compare(seconds: int) -> int:
    """Run every case in both worlds."""
    failed = void = 0
    for number, case in enumerate(cases(seconds)):
        lab, spread = in_lab(number, seconds)
        metrics, noise = on_host(case, seconds)
        host = metrics[case.metric]
        difference = host / lab - 1
        good = abs(difference) <= case.tolerance
        if not noise and case.tolerance < abs(difference) <= spread:
            noise = f"runs of the lab differ by ±{spread:.0%} from seed to seed"
        word = "ok    " if good else "VOID  " if noise else "FAILED"
        failed += word == "FAILED"
        void += word == "VOID  "
        print(
            f"{word} {case.name}: lab {lab:.3f}, host {host:.3f}, {difference:+.1%} "
            f"(bound ±{case.tolerance:.0%}) {noise}",
            flush=True,
        )
    print(f"{failed} disagree, {void} void because of noise")
    return 1 if failed else 0
