# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Recorded results held, judged and made anew.

A result found by its key is held; of the others the quick cells are run (`check`, `judge`) or all (`record`).
"""

import argparse
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console

from netnice_lab.engine import kernel, keys, sweep
from netnice_lab.errors import LabError
from netnice_lab.judgement import bars, claims, recorded
from netnice_lab.judgement.bars import Outcome, Verdict
from netnice_lab.judgement.recorded import Place, Result
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Experiment, Row, describe
from netnice_lab.model.parameters import Parameters

NOTES = Console(stderr=True)
SAMPLE = 3
"""How many held results are run again by a check where the kernel is built: to show that the keys say enough."""


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The named experiments, all of a named paper, or all."""
    return catalogue.named(names or catalogue.names())


def kept(names: Sequence[str]) -> list[Experiment]:
    """The named experiments, or all of which results are recorded."""
    return chosen(names) if names else [one for one in chosen(()) if recorded.has(one.name)]


def engine(arguments: argparse.Namespace, again: bool = False) -> sweep.Engine:
    """Where to run; `again`: although a result is kept."""
    if arguments.cluster:
        return sweep.Cluster(arguments.cluster)
    return sweep.Local(arguments.jobs, sweep.work_again if again else sweep.work)


def place(task: sweep.Task) -> Place:
    """Where a run's result is recorded."""
    return task.experiment, describe(task.cell), task.seed


@dataclass(frozen=True)
class Standing:
    """Runs beside what is recorded of them."""

    recorded: Mapping[Place, Result]
    held: Mapping[Place, sweep.Task]
    stale: Mapping[Place, sweep.Task]
    """Of other sources than those recorded, or not recorded."""

    @classmethod
    def of(cls, experiments: Sequence[Experiment], tasks: Iterable[sweep.Task]) -> "Standing":
        """Compare the keys of runs with the recorded ones."""
        found = recorded.read(experiments)
        held, stale = dict[Place, sweep.Task](), dict[Place, sweep.Task]()
        for task in tasks:
            known = found.get(place(task))
            (held if known and known.key == keys.of(task.run) else stale)[place(task)] = task
        return cls(found, held, stale)

    def rows(self, places: Iterable[Place]) -> list[Row]:
        """What is recorded of some runs, as rows."""
        tasks = {**self.held, **self.stale}
        return [
            {"experiment": at[0], **tasks[at].cell, "seed": at[2], **self.recorded[at].numbers}
            for at in places
            if at in self.recorded
        ]


def execute(arguments: argparse.Namespace, todo: Mapping[Place, sweep.Task], again: bool = False) -> dict[Place, Row]:
    """Run these; the kernel is built first where there is none."""
    if not todo:
        return {}
    if kernel.find() is None:
        NOTES.print(f"{len(todo)} results are not recorded for these sources; building the lab's kernel to run them")
        kernel.build(lambda stage, part: None)
    tasks = list(todo.values())
    outputs = sweep.outputs(tasks, engine(arguments, again), arguments.wall_limit, NOTES, again=again)
    return dict(zip(todo, sweep.rows(outputs, NOTES), strict=True))


def quick_places(experiments: Sequence[Experiment]) -> set[Place]:
    """The runs of the quick selection."""
    return {
        (one.name, describe(cell), seed)
        for one in experiments
        if one.quick
        for cell in one.cells(quick=True)
        for seed in range(1, one.seeds_of(cell, quick=True) + 1)
    }


@dataclass
class Report:
    """What a check found, as lines for people and test cases for a runner."""

    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    missed: dict[str, str] = field(default_factory=dict)

    def bar(self, verdict: Verdict) -> None:
        """One bar."""
        name = f"{verdict.experiment}: {verdict.bar.says}"
        if verdict.outcome is Outcome.HOLDS:
            self.passed.append(name)
        elif verdict.outcome is Outcome.FAILED:
            self.failed[name] = verdict.words
        else:
            self.missed[name] = verdict.words

    def claims(self, paper: str) -> None:
        """A paper's claims; that one is missed is the known miss of its bar, or its row says why."""
        found = claims.read(paper)
        wrong = claims.faults_of(paper, found)
        rows = claims.recorded_rows([paper])
        if not wrong:
            self.passed.append(f"claims of {paper}")
        else:
            self.failed[f"claims of {paper}"] = "\n  ".join(wrong)
        for claim in found:
            if claim.missed and claims.hold(claim, rows).standing is claims.Standing.MISSED:
                self.missed[f"{paper} {claim.section}, {claim.where}: {claim.says}"] = claim.missed

    def write(self, file: Path) -> None:
        """JUnit XML: a known miss is an expected failure."""
        count = len(self.passed) + len(self.failed) + len(self.missed)
        counts = {"tests": str(count), "failures": str(len(self.failed)), "skipped": str(len(self.missed))}
        suite = ElementTree.Element("testsuite", {"name": "lab", **counts})
        for name in (*self.passed, *self.failed, *self.missed):
            case = ElementTree.SubElement(suite, "testcase", classname="lab", name=name)
            if name in self.failed:
                ElementTree.SubElement(case, "failure", message=self.failed[name])
            elif name in self.missed:
                ElementTree.SubElement(case, "skipped", type="pytest.xfail", message=self.missed[name])
        file.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(suite).write(file, encoding="unicode")


def check(arguments: argparse.Namespace) -> int:
    """Hold the recorded results and the bars; what is not recorded for these sources is run, if it is quick."""
    names = [name for name in arguments.names if name != claims.NAME]
    experiments = kept(names) if names or not arguments.names else []
    now = Standing.of(experiments, sweep.tasks(experiments))
    quick, report = quick_places(experiments), Report()
    todo = {at: task for at, task in now.stale.items() if arguments.all or at in quick}
    again = {at: task for at, task in now.held.items() if at in quick}
    if not arguments.again:
        sample = min(SAMPLE, len(again)) if kernel.find() else 0
        again = {at: again[at] for at in random.sample(sorted(again), sample)}
    rows = execute(arguments, todo) | execute(arguments, again, again=True)
    for at, row in rows.items():
        name, known = f"run: {' '.join(map(str, at))}", now.recorded.get(at)
        if known and known.digest == row["digest"]:
            report.passed.append(name)
        else:
            why = "other bytes than recorded" if known else "not recorded"
            report.failed[name] = f"{why}. Judge it, then: netnice-lab record {at[0]}"
    fresh = [at for at in now.held if at not in rows]
    everything = now.rows(fresh) + list(rows.values())
    for one in experiments:
        if any(at[0] == one.name for at in now.held):
            report.passed.append(f"held as recorded: {one.name}")
        for verdict in bars.judge_all(one, bars.select(everything, {"experiment": one.name})):
            report.bar(verdict)
    if not arguments.names or claims.NAME in arguments.names:
        for paper in claims.PAPERS:
            report.claims(paper)
    left = len(now.stale) - len(todo)
    if left and arguments.again:
        report.failed["recorded results"] = f"{left} are of other sources. Judge the change, then: netnice-lab record"
    for outcome, said in ((Outcome.KNOWN_MISS, report.missed), (Outcome.FAILED, report.failed)):
        print("".join(f"{outcome.value}: {name}: {words}\n" for name, words in said.items()), end="")
    print(f"{len(now.held)} results held as recorded; run: {len(todo)} of changed sources, {len(again)} again")
    if left:
        print(
            f"{left} results are recorded of other sources and were not run: netnice-lab record runs and accepts them"
        )
    print(f"known misses: {len(report.missed)}")
    print(f"{len(report.passed)} passed, {len(report.failed)} failed")
    if arguments.junit:
        report.write(arguments.junit)
    return 1 if report.failed else 0


def moved(experiment: Experiment, old: Sequence[Row], new: Sequence[Row]) -> list[str]:
    """The cells whose compared numbers, means over the seeds in `new`, left their tolerance."""
    lines = []
    for cell in experiment.cells():
        rows = bars.select(new, cell)
        seeds = {row["seed"] for row in rows}
        before = [row for row in bars.select(old, cell) if row["seed"] in seeds]
        for metric, tolerance in experiment.pinned.items():
            then = [float(row[metric]) for row in before if metric in row]
            now = [float(row[metric]) for row in rows if metric in row]
            if not then or len(then) != len(now):
                continue
            was, value = sum(then) / len(then), sum(now) / len(now)
            if abs(value - was) > abs(was) * tolerance + 1e-3:
                lines.append(f"moved: {experiment.name} {describe(cell)}: {metric} old {was:.4g} new {value:.4g}")
    return lines


def judge(arguments: argparse.Namespace) -> int:
    """What a change of a core moves: old, new and bar of the quick cells that it touches."""
    experiments = kept(arguments.names)
    mutants = tuple(arguments.mutant)
    tasks = sweep.tasks([one for one in experiments if one.quick], quick=True, mutants=mutants)
    now = Standing.of(experiments, tasks)
    rows = execute(arguments, now.stale)
    same = sum(at in now.recorded and row["digest"] == now.recorded[at].digest for at, row in rows.items())
    worse = 0
    for one in experiments:
        new = [row for at, row in rows.items() if at[0] == one.name]
        if not new:
            continue
        held = now.rows(at for at in now.held if at[0] == one.name)
        old = held + now.rows(at for at in rows if at[0] == one.name)
        print("\n".join(moved(one, old, new)) or f"no cell of {one.name} moved beyond its tolerance")
        before = {verdict.bar.says: verdict for verdict in bars.judge_all(one, old)}
        for verdict in bars.judge_all(one, held + new):
            was = before.get(verdict.bar.says)
            if was is None or was.value != verdict.value:
                worse += verdict.outcome is Outcome.FAILED
                said = f"{was.value:.4g}" if was else "–"
                head = f"{verdict.outcome.value}: {one.name} {verdict.bar.says}"
                print(f"{head}: old {said} new {verdict.value:.4g} bar {verdict.bound}")
    print(f"{len(rows)} runs touched, {same} of them with the same bytes; bars failed: {worse}")
    return 1 if worse else 0


def record(arguments: argparse.Namespace) -> int:
    """Run what is not recorded for these sources, and accept it."""
    experiments = kept(arguments.names)
    tasks = sweep.tasks(experiments)
    if arguments.core:
        if arguments.core not in (known := Parameters.read().rows):
            raise LabError(f"--core {arguments.core}: no such sender", "", f"choose from {', '.join(known)}")
        tasks = [task for task in tasks if arguments.core in task.run.cores]
    now = Standing.of(experiments, tasks)
    todo = {**now.stale, **(now.held if arguments.again else {})}
    rows = execute(arguments, todo)
    for file in recorded.record(experiments, {at: (keys.of(todo[at].run), row) for at, row in rows.items()}):
        print(file)
    same = sum(at in now.recorded and row["digest"] == now.recorded[at].digest for at, row in rows.items())
    print(
        f"{len(rows)} runs recorded, {same} of them with the bytes that they had; {len(now.held)} were recorded already"
    )
    return 0
