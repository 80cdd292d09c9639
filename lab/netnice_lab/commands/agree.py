# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Lab against the shipped eBPF object on this host."""

import argparse

from netnice_lab.commands.options import positive


def add(parser: argparse.ArgumentParser) -> None:
    """How long."""
    parser.add_argument("--seconds", type=positive, default=40, help="of real time a scenario")


def run(arguments: argparse.Namespace) -> int:
    """Compare with the host."""
    from netnice_lab.comparison import agreement

    return agreement.main(arguments.seconds)
