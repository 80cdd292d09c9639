# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The command netnice-lab: its subcommands and their options."""

import argparse
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from netnice_lab import commands
from netnice_lab.engine import faults, machine, sweep
from netnice_lab.errors import LabError

EXAMPLES = """examples:
  netnice-lab build                                   compile the kernel once (some minutes), cache it
  netnice-lab run nice-fig3 --only protocol=nice-0.1,priority --seeds 10 --json fig3.json
  netnice-lab plot nice-fig3 --out figures
  netnice-lab judge                                   what a change of a core moves: old, new, bar
  netnice-lab check                                   what './setup test' runs
  netnice-lab record                                  run what the recorded results lack, accept it
"""


def positive(text: str) -> int:
    """A positive whole number."""
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


class Options:
    """One subcommand's options; what several have is a method."""

    def __init__(
        self, top: "argparse._SubParsersAction[argparse.ArgumentParser]", run: commands.Command, name: str
    ) -> None:
        self.parser = top.add_parser(name, help=(run.__doc__ or "").splitlines()[0].rstrip("."))
        self.parser.set_defaults(run=run, cluster=None, trace=None, seeds=None, only="", core="")
        self.add = self.parser.add_argument

    def local(self) -> "Options":
        """How guests run on this machine."""
        self.add("--jobs", type=positive, default=sweep.JOBS, help="guests at a time (default %(default)s)")
        limit = int(machine.WALL_LIMIT)
        words = "real time after which a guest counts as hung (default %(default)s)"
        self.add("--wall-limit", type=positive, default=limit, metavar="SECONDS", help=words)
        return self

    def many(self) -> "Options":
        """Which experiments, where."""
        words = "experiments, or all of a file or folder of experiments/ (default: all)"
        self.local().add("names", nargs="*", metavar="NAME", help=words)
        self.add("--cluster", metavar="ADDRESS", help="a Dask scheduler, e.g. tcp://host:8786")
        return self

    def seeds(self) -> "Options":
        """How many runs a cell, of which documents."""
        self.add("--seeds", type=positive, help="seeds a cell (default: the experiment's)")
        self.add("--trace", type=Path, metavar="LOG", help="Squid, CLF or CSV log as foreground")
        return self

    def cells(self) -> "Options":
        """Which cells."""
        words = "restrict the sweep: key=value,value,key=value (values of one key follow each other)"
        self.add("--only", default="", metavar="KEY=VALUE,…", help=words)
        return self

    def file(self, name: str, default: str | None, words: str) -> "Options":
        """A file or folder to write."""
        self.add(name, type=Path, default=Path(default) if default else None, metavar="PATH", help=words)
        return self


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="netnice-lab",
        description="The papers' experiments on the real Linux TCP stack, in virtual time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found = top.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int]) -> Options:
        return Options(found, run, name)

    add("build", commands.build)
    add("list", commands.list_all)
    runs = add("run", commands.run).many().seeds().cells()
    runs.file("--json", None, "one row a run").file("--parquet", None, "one row a run")
    runs.file("--raw", None, "a folder for every document, flow and sample as CSV")
    plot = add("plot", commands.plot).many().seeds().cells().file("--out", "figures", "a folder (default %(default)s)")
    plot.add("--recorded", action="store_true", help="what the clone has recorded, in SVG alone; nothing is run")
    add("report", commands.report).many().seeds().file("--out", "report.html", "default %(default)s")
    add("gallery", commands.gallery).file("--out", "gallery", "a folder (default %(default)s)")
    add("tables", commands.tables).local().add("file", type=Path, nargs="+", help="pages: docs/research/levels.md, …")
    misses = add("misses", commands.misses).many().seeds()
    misses.add("--held-out", action="store_true", help="with seeds that were not used for tuning")
    judge = add("judge", commands.judge).many()
    judge.add("--mutant", action="append", default=[], choices=list(faults.MUTANTS), help="judge a broken core")
    check = add("check", commands.check).many().file("--junit", None, "write the outcome as JUnit XML")
    check.add("--again", action="store_true", help="run the quick cells again, also where the recorded result is held")
    check.add("--all", action="store_true", help="run every cell whose recorded result is of other sources")
    record = add("record", commands.record).many()
    record.add("--core", default="", metavar="ALGORITHM", help="only the runs in which a flow sends by it")
    record.add("--again", action="store_true", help="also what is recorded of the same sources")
    add("agree", commands.agree).add("--seconds", type=positive, default=40, help="of real time a scenario")
    cross = add("cross-check", commands.cross_check).local()
    cross.add("--seeds", type=positive, default=2, help="seeds a cell (default %(default)s)")
    return top


def reader_has_gone() -> bool:
    """Was our output closed at the other end, as by `| head`?"""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def end(number: int, _frame: object) -> None:
    """As Ctrl-C: guests, workers and their folders end with us."""
    raise SystemExit(128 + number)


def main() -> int:
    """Run a command; errors are for people."""
    arguments = parser().parse_args()
    signal.signal(signal.SIGTERM, end)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except LabError as error:
        print(f"netnice-lab: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"netnice-lab: {error}: the quick environment lacks it; ./setup tools brings it", file=sys.stderr)
        return 2
    except BrokenPipeError:
        if not reader_has_gone():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE  # as of other programs: what was to be found out is not known
    except KeyboardInterrupt:
        print("netnice-lab: interrupted; finished runs are kept", file=sys.stderr)
        return 130
