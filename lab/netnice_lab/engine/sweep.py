# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Many independent runs: kept results first, then local processes or a Dask cluster, with progress."""

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from netnice_lab.engine import keys, machine
from netnice_lab.errors import LabError
from netnice_lab.model.experiment import Cell, Experiment, Row
from netnice_lab.model.output import Output
from netnice_lab.model.scenario import Run

if TYPE_CHECKING:
    import pandas as pd

JOBS = 2
SAYS = 30.0
"""Seconds between two lines of progress where no terminal shows a bar."""


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


def work_again(task: Task, limit: float) -> Output:
    """The same although the result is kept."""
    return machine.execute(task.run, fresh=True, limit=limit, name=task.name)


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


@dataclass(frozen=True)
class Cluster:
    """A Dask scheduler's address. Its workers need this package and a built kernel; nothing else is shared."""

    address: str
    timeout: float = 10.0
    """Seconds to wait for the scheduler's answer."""

    def map(self, tasks: Sequence[Task], limit: float) -> Iterator[tuple[Task, Output]]:
        """Hand out tasks, take results as they come, keep them here too."""
        from dask.distributed import Client, as_completed

        try:
            client = Client(self.address, timeout=self.timeout)
        except (OSError, ValueError) as error:
            raise LabError(f"no Dask scheduler at {self.address}", str(error), "dask scheduler --port 8786") from error
        try:
            if not client.scheduler_info()["workers"]:
                raise LabError(
                    f"the scheduler at {self.address} has no workers",
                    "",
                    f"dask worker {self.address} --nworkers 2 --nthreads 1",
                )
            futures = {client.submit(work, task, limit, pure=False): task for task in tasks}
            try:
                for future in as_completed(list(futures)):
                    output = future.result()
                    machine.save(output)
                    yield futures[future], output
            finally:
                client.cancel(list(futures))
        finally:
            client.close()


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


def followed(
    what: str, pairs: Iterable[tuple[Task, Output]], total: int, console: Console
) -> Iterator[tuple[Task, Output]]:
    """The pairs with progress: a bar, or lines where there is no terminal."""
    said = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task(what, total=total)
        for number, (task, output) in enumerate(pairs, 1):
            if not console.is_terminal and time.monotonic() - said >= SAYS:
                said = time.monotonic()
                say(console, f"{number} of {total} {what}, now {task.experiment}")
            progress.update(bar, advance=1, description=task.experiment)
            yield task, output


def say(console: Console, words: str) -> None:
    """A line as it is."""
    console.print(words, markup=False, highlight=False, soft_wrap=True)


def boot_guests(todo: Sequence[Task], engine: Engine, limit: float, console: Console) -> Iterator[Output]:
    """Execute tasks with progress; a guest that had to be started again is no secret."""
    deaths = 0
    done = engine.map(todo, limit) if todo else iter(())
    for task, output in followed("guests", done, len(todo), console):
        deaths += len(output.deaths)
        for words in output.deaths:
            say(console, f"warning: {task.name}: the guest's kernel died and was started again:\n    {words}")
        yield output
    if deaths:
        say(console, f"{deaths} of {len(todo) + deaths} guests died and were started again")


def outputs(
    todo: Sequence[Task],
    engine: Engine | None = None,
    limit: float = machine.WALL_LIMIT,
    console: Console | None = None,
    key_of: Callable[[Task], str] = lambda task: keys.of(task.run),
    again: bool = False,
) -> list[tuple[Task, Output]]:
    """The output of each task, in the order of the tasks, whatever finished first; `key_of`: the name of its result."""
    names = [key_of(task) for task in todo]
    known = {} if again else {name: machine.load(name) for name in dict.fromkeys(names)}
    found = {name: kept for name, kept in known.items() if kept is not None}
    missing = {name: task for name, task in zip(reversed(names), reversed(todo), strict=True) if name not in found}
    for output in boot_guests(list(missing.values())[::-1], engine or Local(), limit, console or Console(stderr=True)):
        found[output.key] = output
    if changed := [task.name for task, name in zip(todo, names, strict=True) if name not in found]:
        raise LabError(f"{len(changed)} runs are of other programs", "the sources changed meanwhile", "run it again")
    return [(task, found[name]) for task, name in zip(todo, names, strict=True)]


def rows(pairs: Sequence[tuple[Task, Output]], console: Console | None = None) -> list[Row]:
    """The numbers of each run."""
    from netnice_lab.measures import results

    read = followed("runs", pairs, len(pairs), console or Console(stderr=True))
    return [
        {"experiment": task.experiment, **task.cell, "seed": task.seed}
        | results.metrics(task.run, output)
        | {"digest": output.digest, "cpu_seconds": output.cpu}
        for task, output in read
    ]


def run(
    todo: Sequence[Task],
    engine: Engine | None = None,
    limit: float = machine.WALL_LIMIT,
    console: Console | None = None,
    key_of: Callable[[Task], str] = lambda task: keys.of(task.run),
) -> tuple["pd.DataFrame", list[tuple[Task, Output]]]:
    """Run tasks and return one row a run."""
    import pandas as pd

    if not todo:
        raise LabError("nothing to run", "the selection is empty", "choose other values for --only")
    pairs = outputs(todo, engine, limit, console, key_of)
    table = rows(pairs, console)
    frame = pd.DataFrame(table)
    for key in {key: None for task in todo for key in task.cell}:
        # an integer stays one where another experiment of the same call lacks the key
        frame[key] = pd.Series([row.get(key) for row in table], dtype=object)
    return frame, pairs


def rows_of(frame: "pd.DataFrame", experiment: Experiment) -> "pd.DataFrame":
    """The rows of one experiment, with the types of its own sweep."""
    return frame[frame.experiment == experiment.name].dropna(axis=1, how="all").infer_objects()
