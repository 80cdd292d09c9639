# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Options that several subcommands have, and what they choose."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console

from netnice_lab.engine import machine, sweep
from netnice_lab.errors import LabError
from netnice_lab.judgement import pins
from netnice_lab.model import catalogue
from netnice_lab.model.experiment import Experiment
from netnice_lab.model.output import Output
from netnice_lab.model.parameters import Parameters

NOTES = Console(stderr=True)
Runs = list[tuple[sweep.Task, Output]]


def positive(text: str) -> int:
    """A positive whole number."""
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def local(parser: argparse.ArgumentParser) -> None:
    """How guests run on this machine."""
    parser.add_argument("--jobs", type=positive, default=sweep.JOBS, help="guests at a time (default %(default)s)")
    parser.add_argument(
        "--wall-limit", type=positive, default=int(machine.WALL_LIMIT), metavar="SECONDS",
        help="real time after which a guest counts as hung (default %(default)s)",
    )  # fmt: skip


def many(parser: argparse.ArgumentParser) -> None:
    """Which experiments, where, with how many seeds."""
    local(parser)
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments (default: all)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, e.g. tcp://host:8786")
    parser.add_argument("--seeds", type=positive, help="seeds a cell (default: the experiment's)")
    parser.add_argument("--trace", type=Path, metavar="LOG", help="Squid, CLF or CSV log as foreground")


def only(parser: argparse.ArgumentParser) -> None:
    """Which cells."""
    parser.add_argument(
        "--only", default="", metavar="KEY=VALUE,…",
        help="restrict the sweep: key=value,value,key=value (values of one key follow each other)",
    )  # fmt: skip


def one_core(parser: argparse.ArgumentParser) -> None:
    """Which runs."""
    parser.add_argument(
        "--core", default="", metavar="ALGORITHM",
        help="only the runs in which somebody sends by it: nothing else moves when it changes",
    )  # fmt: skip


def parse_only(text: str) -> dict[str, list[str]]:
    """key=value,value,key=value as lists."""
    chosen: dict[str, list[str]] = {}
    key = ""
    for part in filter(None, text.split(",")):
        if "=" in part:
            key, _, part = part.partition("=")
        if not key:
            raise LabError(f"--only {text}: '{part}' has no key", "", "write key=value")
        chosen.setdefault(key, []).append(part)
    return chosen


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The named experiments, or all."""
    return [catalogue.load(name) for name in (names or catalogue.names())]


def pinned(names: Sequence[str]) -> list[Experiment]:
    """The named experiments, or all that are pinned, with a word on those that are not."""
    if names:
        return chosen(names)
    found = chosen(names)
    for one in found:
        if not pins.file_of(one.name).exists():
            print(f"not pinned: {one.name}")
    return [one for one in found if pins.file_of(one.name).exists()]


def engine(arguments: argparse.Namespace) -> sweep.Engine:
    """Where to run."""
    if arguments.cluster:
        from netnice_lab.engine.cluster import Cluster

        return Cluster(arguments.cluster)
    return sweep.Local(arguments.jobs)


def collect(
    arguments: argparse.Namespace,
    experiments: Sequence[Experiment],
    only: dict[str, list[str]] | None = None,
    quick: bool = False,
    broken: tuple[str, ...] = (),
    first: int = 1,
    core: str = "",
) -> tuple[pd.DataFrame, Runs]:
    """Run what the arguments ask for."""
    tasks = sweep.tasks(experiments, only, arguments.seeds, quick, broken, first, arguments.trace)
    if core:
        tasks = with_core(tasks, core)
    return sweep.run(tasks, engine(arguments), arguments.wall_limit, NOTES)


def with_core(tasks: Sequence[sweep.Task], name: str) -> list[sweep.Task]:
    """Those in which somebody sends by the algorithm."""
    if name not in (rows := Parameters.read().rows):
        raise LabError(f"--core {name}: no such sender", "", f"choose from {', '.join(rows)}")
    return [task for task in tasks if name in task.run.cores]
