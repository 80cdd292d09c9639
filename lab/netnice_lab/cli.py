# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The command netnice-lab."""

import argparse
import os
import select
import signal
import sys

from netnice_lab.commands import COMMANDS
from netnice_lab.errors import LabError

EXAMPLES = """examples:
  netnice-lab build                                   compile the kernel once (some minutes), cache it
  netnice-lab run nice-fig3 --only protocol=nice-0.1,priority --seeds 10 --json fig3.json
  netnice-lab plot nice-fig3 --out figures
  netnice-lab check --quick --exact                   what CI runs
  netnice-lab report --out report.html
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="netnice-lab",
        description="The papers' experiments on the real Linux TCP stack, in virtual time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.add(commands.add_parser(name, help=(command.__doc__ or "").splitlines()[0].rstrip(".")))
    return top


def reader_has_gone() -> bool:
    """Whether nobody reads our output any more: `| head`."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def main() -> int:
    """Run a command; errors are for people."""
    arguments = parser().parse_args()
    try:
        status: int = COMMANDS[arguments.command].run(arguments)
        sys.stdout.flush()
        return status
    except LabError as error:
        print(f"netnice-lab: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        if not reader_has_gone():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE  # as of other programs: what was to be found out is not known
    except KeyboardInterrupt:
        print("netnice-lab: interrupted; finished runs are kept", file=sys.stderr)
        return 130
