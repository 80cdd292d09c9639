# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The command netnice-lab."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console

from netnice_lab import experiment, kernel, machine, mutants, places, results, settings, sweep
from netnice_lab.errors import LabError
from netnice_lab.experiment import Experiment

EXAMPLES = """examples:
  netnice-lab build                                   compile the kernel once (some minutes), cache it
  netnice-lab run nice-fig3 --only protocol=nice-0.1,priority --seeds 10 --json fig3.json
  netnice-lab plot nice-fig3 --out figures
  netnice-lab check --quick                           what CI runs
  netnice-lab report --out report.html
"""
notes = Console(stderr=True)
HELD_OUT = 1001
"""The first of the seeds that no pin and no tuning knows."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="netnice-lab",
        description="The papers' experiments on the real Linux TCP stack, in virtual time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("build", help="kernel, module and guest programs, cached outside the tree")
    commands.add_parser("list", help="the experiments, and how many runs they are")
    local = argparse.ArgumentParser(add_help=False)
    local.add_argument("--jobs", type=positive, default=sweep.JOBS, help="guests at a time (default %(default)s)")
    local.add_argument(
        "--wall-limit", type=positive, default=int(machine.WALL_LIMIT), metavar="SECONDS",
        help="real time after which a guest counts as hung (default %(default)s)",
    )  # fmt: skip
    many = argparse.ArgumentParser(add_help=False, parents=[local])
    many.add_argument("names", nargs="*", metavar="NAME", help="experiments (default: all)")
    many.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, e.g. tcp://host:8786")
    many.add_argument("--seeds", type=positive, help="seeds a cell (default: the experiment's)")
    many.add_argument("--trace", type=Path, metavar="LOG", help="Squid, CLF or CSV log as foreground")
    only = argparse.ArgumentParser(add_help=False)
    only.add_argument(
        "--only", default="", metavar="KEY=VALUE,…",
        help="restrict the sweep: key=value,value,key=value (values of one key follow each other)",
    )  # fmt: skip
    run = commands.add_parser("run", parents=[many, only], help="run experiments, print a table")
    run.add_argument("--json", type=Path, metavar="FILE", help="one row a run")
    run.add_argument("--parquet", type=Path, metavar="FILE", help="one row a run")
    run.add_argument("--raw", type=Path, metavar="DIR", help="every document, flow and sample as CSV")
    plot = commands.add_parser("plot", parents=[many, only], help="figures as SVG and PNG")
    plot.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR")
    pin = commands.add_parser("pin", parents=[many], help="accept the present results")
    pin.add_argument("--digests", action="store_true", help="only the digests that 'check --exact' compares")
    check = commands.add_parser("check", parents=[many], help="compare with the pins and the bars")
    check.add_argument("--quick", action="store_true", help="a part that takes minutes, for CI")
    check.add_argument("--exact", action="store_true", help="also that every run has the bytes it had when pinned")
    check.add_argument("--section4", action="store_true", help="only the paper's section 4")
    check.add_argument(
        "--mutant", action="append", default=[], choices=list(mutants.MUTANTS),
        help="check deliberately broken cores: the check must fail",
    )  # fmt: skip
    report = commands.add_parser("report", parents=[many], help="one HTML page")
    report.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE")
    misses = commands.add_parser("misses", parents=[many], help="the bars that the runs miss, by their reasons")
    misses.add_argument("--held-out", action="store_true", help="with seeds that nobody has tuned with")
    tables = commands.add_parser("tables", parents=[local], help="make the tables of a document again")
    tables.add_argument("file", type=Path, metavar="FILE", help="for example docs/levels.md")
    tables.set_defaults(cluster=None, trace=None, seeds=None)
    agree = commands.add_parser("agree", help="lab against the shipped eBPF object on this host")
    agree.add_argument("--seconds", type=positive, default=40, help="of real time a scenario")
    cross = commands.add_parser("cross-check", parents=[local], help="lab against ns-3 with the same cores")
    cross.add_argument("--seeds", type=positive, default=2, help="seeds a cell (default %(default)s)")
    return top


def positive(text: str) -> int:
    """A positive whole number."""
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


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
    return [experiment.load(name) for name in (names or experiment.names())]


def engine(arguments: argparse.Namespace) -> sweep.Engine:
    """Where to run."""
    if arguments.cluster:
        from netnice_lab.cluster import Cluster

        return Cluster(arguments.cluster)
    return sweep.Local(arguments.jobs)


def collect(
    arguments: argparse.Namespace,
    experiments: Sequence[Experiment],
    only: dict[str, list[str]] | None = None,
    quick: bool = False,
    broken: tuple[str, ...] = (),
    first: int = 1,
) -> tuple[pd.DataFrame, list[tuple[sweep.Task, machine.Output]]]:
    """Run what the arguments ask for."""
    settings.trace = arguments.trace
    tasks = sweep.tasks(experiments, only, arguments.seeds, quick, broken, first)
    return sweep.run(tasks, engine(arguments), arguments.wall_limit, notes)


def build(_: argparse.Namespace) -> int:
    """Build everything, with progress."""
    from rich.progress import Progress

    with Progress(console=notes) as progress:
        bars = {}

        def show(stage: str, part: float) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(stage, total=1.0)
            progress.update(bars[stage], completed=part)

        built = kernel.build(show)
    programs = machine.Programs.find()
    notes.print(f"kernel {built.key}, module {programs.module.key}, in {places.cache()}")
    return 0


def list_experiments(_: argparse.Namespace) -> int:
    """Print every experiment."""
    for found in experiment.load_all():
        runs = sum(found.seeds_of(cell) for cell in found.cells())
        print(f"{found.name:22} {runs:4} runs  {found.title}")
        print(f"{'':22}            keys: {', '.join(found.sweep)}")
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Run, print means, write files."""
    experiments = chosen(arguments.names)
    only = parse_only(arguments.only)
    frame, pairs = collect(arguments, experiments, only)
    for found in experiments:
        rows = sweep.rows_of(frame, found)
        print(found.name)
        print(
            rows.groupby(list(found.sweep), sort=False)[results.measured(rows, found.sweep)].mean().round(3).to_string()
        )
    for file in (arguments.json, arguments.parquet):
        if file:
            results.write(frame, file)
    if arguments.raw:
        write_raw(arguments.raw, pairs)
    return 0


def write_raw(directory: Path, pairs: list[tuple[sweep.Task, machine.Output]]) -> None:
    """Every guest's own tables, a directory a run."""
    for task, output in pairs:
        place = directory / task.name.replace(" ", "/").replace(",", "_")
        place.mkdir(parents=True, exist_ok=True)
        for name, text in output.files.items():
            (place / name).write_text(text)


def plot(arguments: argparse.Namespace) -> int:
    """Draw."""
    from netnice_lab import plot as plots

    experiments = chosen(arguments.names)
    frame, runs = collect(arguments, experiments, parse_only(arguments.only))
    for found in experiments:
        rows = sweep.rows_of(frame, found)
        for path in plots.draw(found, rows, arguments.out) + plots.draw_timelines(found, runs, arguments.out):
            print(path)
    return 0


def pin(arguments: argparse.Namespace) -> int:
    """Write pins and digests, or the digests alone."""
    from netnice_lab import digests, pins

    experiments = pinned(arguments) if arguments.digests else chosen(arguments.names)
    frame, _ = collect(arguments, experiments)
    for found in experiments:
        rows = sweep.rows_of(frame, found)
        if not arguments.digests:
            print(pins.pin(found, rows))
        print(digests.record(found, rows))
    return 0


def pinned(arguments: argparse.Namespace) -> list[Experiment]:
    """The named experiments, or all that are pinned, with a word on those that are not."""
    from netnice_lab import pins

    experiments = chosen(arguments.names)
    if arguments.names:
        return experiments
    for found in experiments:
        if not pins.file_of(found.name).exists():
            print(f"not pinned: {found.name}")
    return [e for e in experiments if pins.file_of(e.name).exists()]


def check(arguments: argparse.Namespace) -> int:
    """Compare; show old, new and bound of whatever moved."""
    from netnice_lab import digests, pins

    experiments = [e for e in pinned(arguments) if e.section4 or not arguments.section4]
    if arguments.quick:
        experiments = [e for e in experiments if e.quick]
    broken = tuple(arguments.mutant)
    frame, _ = collect(arguments, experiments, quick=arguments.quick, broken=broken)
    verdicts = [
        verdict
        for found in experiments
        for judged in (pins.check, pins.bars)
        for verdict in judged(found, sweep.rows_of(frame, found))
    ]
    for verdict in verdicts:
        if verdict.failed or verdict.old is None:
            print(verdict.line())
    count = Counter(verdict.outcome for verdict in verdicts)
    passed, failed = count[pins.Outcome.HOLDS], count[pins.Outcome.FAILED]
    if arguments.exact:
        compared = sum((digests.compare(e, sweep.rows_of(frame, e)) for e in experiments), digests.Compared())
        print("\n".join(compared.lines()))
        passed += compared.same
        failed += compared.failed
    print(f"known misses: {count[pins.Outcome.KNOWN_MISS]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def report(arguments: argparse.Namespace) -> int:
    """Write the page."""
    from netnice_lab import report as reports

    experiments = chosen(arguments.names)
    frame, runs = collect(arguments, experiments)
    pairs = [(e, sweep.rows_of(frame, e)) for e in experiments]
    reports.write(pairs, runs, arguments.out)
    print(arguments.out)
    return 0


def list_misses(arguments: argparse.Namespace) -> int:
    """Print every bar that is missed, also those of which that is known."""
    from netnice_lab import misses

    experiments = chosen(arguments.names)
    frame, _ = collect(arguments, experiments, first=HELD_OUT if arguments.held_out else 1)
    for found in experiments:
        print("\n".join([found.name, *misses.lines(found, sweep.rows_of(frame, found))]))
    return 0


def tables(arguments: argparse.Namespace) -> int:
    """Write a document's tables: those of experiments, and the one of what receivers must show."""
    from netnice_lab import must
    from netnice_lab import tables as documents

    bars = must.is_in(arguments.file)
    experiments = chosen(must.EXPERIMENTS if bars else documents.wanted(arguments.file))
    frame, _ = collect(arguments, experiments)
    if bars:
        must.write(must.table(experiments, frame), arguments.file)
    else:
        documents.rewrite(arguments.file, {e.name: (e, sweep.rows_of(frame, e)) for e in experiments})
    print(arguments.file)
    return 0


def agree(arguments: argparse.Namespace) -> int:
    """Compare with the host."""
    from netnice_lab import agreement

    return agreement.main(arguments.seconds)


def cross_check(arguments: argparse.Namespace) -> int:
    """Compare with ns-3."""
    from netnice_lab import crosscheck

    return crosscheck.main(arguments.seeds, arguments.jobs, arguments.wall_limit, notes)


COMMANDS = {
    "build": build,
    "list": list_experiments,
    "run": run,
    "plot": plot,
    "pin": pin,
    "check": check,
    "report": report,
    "misses": list_misses,
    "tables": tables,
    "agree": agree,
    "cross-check": cross_check,
}


def main() -> int:
    """Run a command; errors are for people."""
    arguments = parser().parse_args()
    try:
        return COMMANDS[arguments.command](arguments)
    except LabError as error:
        print(f"netnice-lab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("netnice-lab: interrupted; finished runs are kept", file=sys.stderr)
        return 130
