# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The subcommands of netnice-lab that run, draw and compare; those that judge are in judgement/check.py."""

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from netnice_lab import places
from netnice_lab.engine import sweep
from netnice_lab.errors import LabError
from netnice_lab.judgement import bars
from netnice_lab.judgement.check import NOTES, check, chosen, engine, judge, record
from netnice_lab.judgement.misses import lines
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Experiment
from netnice_lab.model.output import Output

if TYPE_CHECKING:
    import pandas as pd

Command = Callable[[argparse.Namespace], int]
Runs = list[tuple[sweep.Task, Output]]
HELD_OUT = 1001
"""The first of the seeds that neither a recorded result nor any tuning has used."""

__all__ = ["check", "judge", "record"]


def parse_only(text: str) -> dict[str, list[str]]:
    """key=value,value,key=value as lists."""
    found: dict[str, list[str]] = {}
    key = ""
    for part in filter(None, text.split(",")):
        if "=" in part:
            key, _, part = part.partition("=")
        if not key:
            raise LabError(f"--only {text}: '{part}' has no key", "", "write key=value")
        found.setdefault(key, []).append(part)
    return found


def collect(
    arguments: argparse.Namespace, experiments: Sequence[Experiment], first: int = 1
) -> "tuple[pd.DataFrame, Runs]":
    """Run what the arguments ask for."""
    only = parse_only(arguments.only)
    tasks = sweep.tasks(experiments, only, arguments.seeds, first=first, log=arguments.trace)
    return sweep.run(tasks, engine(arguments), arguments.wall_limit, NOTES)


def build(_: argparse.Namespace) -> int:
    """Kernel, module and guest programs, cached outside the tree."""
    from rich.progress import Progress

    from netnice_lab.engine import kernel, programs

    with Progress(console=NOTES) as progress:
        shown = {}

        def show(stage: str, part: float) -> None:
            if stage not in shown:
                shown[stage] = progress.add_task(stage, total=1.0)
            progress.update(shown[stage], completed=part)

        built = kernel.build(show)
    programs.Programs.find()
    NOTES.print(f"kernel {built.key} and what runs on it, in {places.cache()}")
    return 0


def list_all(_: argparse.Namespace) -> int:
    """The experiments, and how many runs they are."""
    for found in catalogue.load_all():
        runs = sum(found.seeds_of(cell) for cell in found.cells())
        print(f"{found.name:22} {runs:4} runs  {found.title}")
        print(f"{'':22}            keys: {', '.join(found.sweep)}")
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Run experiments, print a table."""
    from netnice_lab.measures import results

    experiments = chosen(arguments.names)
    frame, pairs = collect(arguments, experiments)
    for found in experiments:
        rows = sweep.rows_of(frame, found)
        means = rows.groupby(list(found.sweep), sort=False)[results.measured(rows, found.sweep)].mean()
        print(found.name)
        print(means.round(3).to_string())
    for file in (arguments.json, arguments.parquet):
        if file:
            results.write(frame, file)
    for task, output in pairs if arguments.raw else ():
        place = arguments.raw / task.name.replace(" ", "/").replace(",", "_")
        place.mkdir(parents=True, exist_ok=True)
        for name, text in output.files.items():
            (place / name).write_text(text)
    return 0


def plot(arguments: argparse.Namespace) -> int:
    """Figures as SVG and PNG."""
    from netnice_lab.publishing import plot

    experiments = chosen(arguments.names)
    if arguments.recorded:
        if arguments.only or arguments.seeds or arguments.trace:
            why = "what is recorded is drawn whole"
            raise LabError("--recorded goes without --only, --seeds and --trace", why, "leave them out")
        for path in (path for found in experiments for path in plot.draw_recorded(found, arguments.out)):
            print(path)
        return 0
    frame, runs = collect(arguments, experiments)
    for found in experiments:
        rows = sweep.rows_of(frame, found)
        for path in plot.draw(found, rows, arguments.out) + plot.draw_timelines(found, runs, arguments.out):
            print(path)
    return 0


def report(arguments: argparse.Namespace) -> int:
    """One HTML page."""
    from netnice_lab.publishing import report

    experiments = chosen(arguments.names)
    frame, runs = collect(arguments, experiments)
    report.write([(e, sweep.rows_of(frame, e)) for e in experiments], runs, arguments.out)
    print(arguments.out)
    return 0


def gallery(arguments: argparse.Namespace) -> int:
    """Small pictures of what is recorded, on a page."""
    from netnice_lab.publishing import gallery, tables

    print(gallery.write(arguments.out, tables.experiments_of))
    return 0


def tables(arguments: argparse.Namespace) -> int:
    """Make the tables of a document again."""
    from netnice_lab.publishing import tables

    for file in arguments.file:
        results = {}
        if names := tables.wanted(file):
            experiments = chosen(names)
            frame, _ = collect(arguments, experiments)
            results = {e.name: (e, sweep.rows_of(frame, e)) for e in experiments}
        tables.rewrite(file, results)
        print(file)
    return 0


def misses(arguments: argparse.Namespace) -> int:
    """The bars that the runs miss, by their reasons, also those of which that is known."""
    experiments = chosen(arguments.names)
    first = HELD_OUT if arguments.held_out else 1
    tasks = sweep.tasks(experiments, seeds=arguments.seeds, first=first, log=arguments.trace)
    rows = sweep.rows(sweep.outputs(tasks, engine(arguments), arguments.wall_limit, NOTES), NOTES)
    for found in experiments:
        print("\n".join([found.name, *lines(found, bars.select(rows, {"experiment": found.name}))]))
    return 0


def agree(arguments: argparse.Namespace) -> int:
    """Lab against the shipped eBPF object on this host."""
    from netnice_lab.comparison import agreement

    return agreement.main(arguments.seconds)


def cross_check(arguments: argparse.Namespace) -> int:
    """Lab against ns-3 with the same cores."""
    from netnice_lab.comparison import crosscheck

    return crosscheck.main(arguments.seeds, arguments.jobs, arguments.wall_limit, NOTES)
