# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A run in ns-3 instead of a guest: the same plan, the same cores, the same tables, another TCP."""

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from netnice_lab import places
from netnice_lab.engine import machine
from netnice_lab.engine.programs import made_aside
from netnice_lab.engine.sweep import Task
from netnice_lab.errors import LabError
from netnice_lab.errors import run as build_step
from netnice_lab.model.output import Output
from netnice_lab.model.parameters import Parameters
from netnice_lab.model.scenario import Run, Scenario

SOURCES = places.LAB / "ns3"
HEADER = "ns3/internet-module.h"
PACKAGE = "libns3-dev"
PROGRAM = "netnice-ns3"
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror")
LIBRARIES = ("-lns3-internet", "-lns3-point-to-point", "-lns3-traffic-control", "-lns3-network", "-lns3-core")


def require() -> None:
    """A compiler that finds ns-3, or an error that says what to install."""
    for compiler in ("gcc", "g++"):
        if shutil.which(compiler) is None:
            raise LabError(f"no {compiler}", "the ns-3 cross-check is compiled on first use", "apt-get install g++")
    probe = ["g++", "-E", "-x", "c++", "-include", HEADER, os.devnull]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        raise LabError(
            "ns-3 is not installed",
            f"the compiler finds no <{HEADER}>; the cross-check links Debian's ns-3 (tested with 3.37)",
            f"sudo apt-get install {PACKAGE}",
        )


def build() -> Path:
    """Compile the program unless cached."""
    files = places.sources(SOURCES, places.CORES)
    home = places.cache() / "ns3" / places.digest_tree(files, *FLAGS)
    if (home / PROGRAM).exists():
        return home / PROGRAM
    require()
    with made_aside(home) as work:
        objects = []
        for source in sorted(SOURCES.glob("*.c*")):
            compiler = ["gcc", "-std=gnu11"] if source.suffix == ".c" else ["g++", "-std=c++17"]
            objects.append(str(work / f"{source.stem}.o"))
            build_step(["nice", *compiler, *FLAGS, f"-I{places.CORES}", "-c", str(source), "-o", objects[-1]], SOURCES)
        build_step(["g++", "-o", str(work / "built" / PROGRAM), *objects, *LIBRARIES], SOURCES)
    return home / PROGRAM


def render(scenario: Scenario) -> Run:
    """The scenario as the lab renders it, with lines for ns-3's dumbbell in place of the guest's ip and tc commands."""
    run, topology = scenario.render(), scenario.topology
    last = topology.links[-1]
    queue, rtt = last.forward.queue, topology.links[0].back.delay
    if topology.hosts != ("www", "bulk", "home") or queue is None or not queue.packets or topology.ecn:
        raise LabError("ns-3 plays only the paper's dumbbell", "", "give a drop-tail or priority queue in packets")
    if queue.kind not in ("fifo", "priority"):
        raise LabError(f"ns-3 plays no {queue.kind} queue here", "", "use fifo or priority")
    lines = [f"link {last.forward.rate} {rtt} {last.mtu} {queue.packets} {queue.kind}"]
    lines += [f"window {host} {segments}" for host, segments in topology.initial_window]
    parameters = Parameters.read()
    rows = {core: parameters.row(core, run.parameters.get(core, {})) for core in run.cores}
    lines += [f"row {core} {','.join(map(str, values))}" for core, values in rows.items()]
    return replace(run, setup="\n".join(lines) + "\n")


def key(run: Run) -> str:
    """The name of a run's result."""
    return places.digest(build().parent.name, run.setup, run.plan, str(run.seed))


def execute(run: Run, fresh: bool = False, limit: float = machine.WALL_LIMIT, name: str = "run") -> Output:
    """The result of a run that `render` made: the kept one, or a new one."""
    program, known = build(), key(run)
    if not fresh and (kept := machine.load(known)) is not None:
        return kept
    began, used = time.monotonic(), machine.cpu_of_children()
    with tempfile.TemporaryDirectory(prefix="netnice-ns3-") as directory:
        place = Path(directory)
        (place / "plan").write_text(run.setup + run.plan)
        try:
            done = subprocess.run(
                [str(program), str(place / "plan"), directory],
                capture_output=True,
                text=True,
                timeout=limit,
                preexec_fn=machine.die_with_parent,
            )
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{name}: ns-3 hung and was killed", f"no end after {limit:.0f} s", "see main.cc") from error
        if done.returncode != 0:
            words = done.stderr.strip().splitlines()[-8:] or [f"it ended with {done.returncode}"]
            raise LabError(f"{name}: ns-3 failed", "\n    ".join(words), "see its words above")
        files = {file: (place / file).read_text() for file in ("documents.csv", "flows.csv")}
    files |= {"udp.csv": "id,sent,received,mean_delay_us\n", "samples.csv": ""}
    output = Output(files, time.monotonic() - began, machine.cpu_of_children() - used, known)
    machine.save(output)
    return output


def work(task: Task, limit: float) -> Output:
    """One task of a sweep."""
    return execute(task.run, limit=limit, name=task.name)
