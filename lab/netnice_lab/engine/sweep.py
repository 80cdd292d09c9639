# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Many independent runs: kept results first, then local processes or a cluster, with progress."""

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from netnice_lab.engine import machine
from netnice_lab.errors import LabError
from netnice_lab.measures import results
from netnice_lab.model.experiment import Cell, Experiment
from netnice_lab.model.output import Output
from netnice_lab.model.scenario import Run

JOBS = 2


@dataclass(frozen=True)
class Task:
    """One run of one cell, rendered."""

    experiment: str
    cell: Cell
    seed: int
    run: Run

    @property
    def name(self) -> str:
        """What an error message calls it."""
        cell = ",".join(f"{key}={value}" for key, value in self.cell.items())
        return f"{self.experiment} {cell} seed={self.seed}"


class Engine(Protocol):
    """Where tasks are executed."""

    def map(self, tasks: Sequence[Task], limit: float) -> Iterator[tuple[Task, Output]]:
        """Execute tasks; results in any order."""
        ...


def work(task: Task, limit: float) -> Output:
    """Execute one task: the same function in a local process and on a cluster."""
    return machine.execute(task.run, limit=limit, name=task.name)


def ignore_interrupt() -> None:
    """Workers leave Ctrl-C to the parent; they die with it, and their guests with them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, machine.end_with_guests)
    machine.die_with_parent()


@dataclass(frozen=True)
class Local:
    """Processes on this machine."""

    jobs: int = JOBS
    execute: Callable[[Task, float], Output] = work

    def map(self, tasks: Sequence[Task], limit: float) -> Iterator[tuple[Task, Output]]:
        """Run `jobs` guests at a time."""
        context = multiprocessing.get_context("forkserver")
        pool = ProcessPoolExecutor(self.jobs, mp_context=context, initializer=ignore_interrupt)
        try:
            futures = {pool.submit(self.execute, task, limit): task for task in tasks}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join(5)
                worker.kill()
            raise
        pool.shutdown()


def tasks(
    experiments: Iterable[Experiment],
    only: Mapping[str, Sequence[str]] | None = None,
    seeds: int | None = None,
    quick: bool = False,
    mutants: tuple[str, ...] = (),
    first: int = 1,
    log: Path | None = None,
) -> list[Task]:
    """Render every run of the experiments; `first` is the first of their seeds, `log` replaces their documents."""
    found = []
    for experiment in experiments:
        for cell in experiment.cells(only, quick):
            for seed in range(first, first + (seeds or experiment.seeds_of(cell, quick))):
                scenario = experiment.at(cell, seed)
                run = (scenario.with_log(log) if log else scenario).render(mutants)
                found.append(Task(experiment.name, cell, seed, run))
    return found


def boot_guests(todo: Sequence[Task], engine: Engine, limit: float, console: Console) -> Iterator[Output]:
    """Execute tasks with progress; a guest that had to be started again is no secret."""
    say, deaths = partial(console.print, markup=False, highlight=False, soft_wrap=True), 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("guests", total=len(todo))
        for task, output in engine.map(todo, limit) if todo else ():
            deaths += len(output.deaths)
            for words in output.deaths:
                say(f"warning: {task.name}: the guest's kernel died and was started again:\n    {words}")
            progress.update(bar, advance=1, description=task.experiment)
            yield output
    if deaths:
        say(f"{deaths} of {len(todo) + deaths} guests died and were started again")


def run(
    todo: Sequence[Task],
    engine: Engine | None = None,
    limit: float = machine.WALL_LIMIT,
    console: Console | None = None,
    key_of: Callable[[Task], str] | None = None,
) -> tuple[pd.DataFrame, list[tuple[Task, Output]]]:
    """Run tasks and return one row a run, in the order of the tasks, whatever finished first.

    `key_of`: the name of a task's result where it is no guest's.
    """
    console = console or Console(stderr=True)
    if key_of is None:
        programs = {key: machine.Programs.find(key) for key in {task.run.mutants for task in todo}}
        keys = {id(task): programs[task.run.mutants].key(task.run) for task in todo}
    else:
        keys = {id(task): key_of(task) for task in todo}
    outputs: dict[str, Output] = {}
    for key in keys.values():
        if key not in outputs and (kept := machine.load(key)) is not None:
            outputs[key] = kept
    unique = {keys[id(task)]: task for task in reversed(todo) if keys[id(task)] not in outputs}
    missing = list(unique.values())[::-1]
    for output in boot_guests(missing, engine or Local(), limit, console):
        outputs[output.key] = output
    if changed := [task.name for task in todo if keys[id(task)] not in outputs]:
        raise LabError(f"{len(changed)} runs are of other programs", "the sources changed meanwhile", "run it again")
    pairs = [(task, outputs[keys[id(task)]]) for task in todo]
    rows = [
        {"experiment": task.experiment, **task.cell, "seed": task.seed}
        | results.metrics(task.run, output)
        | {"digest": output.digest, "cpu_seconds": output.cpu}
        for task, output in pairs
    ]
    if not rows:
        raise LabError("nothing to run", "the selection is empty", "choose other values for --only")
    frame = pd.DataFrame(rows)
    for key in {key: None for task in todo for key in task.cell}:
        # an integer stays one where another experiment of the same call lacks the key
        frame[key] = pd.Series([row.get(key) for row in rows], dtype=object)
    return frame, pairs


def rows_of(frame: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """The rows of one experiment, with the types of its own sweep."""
    return frame[frame.experiment == experiment.name].dropna(axis=1, how="all").infer_objects()
