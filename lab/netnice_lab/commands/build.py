# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Kernel, module and guest programs, cached outside the tree."""

import argparse

from rich.progress import Progress

from netnice_lab import places
from netnice_lab.commands.options import NOTES
from netnice_lab.engine import kernel, machine


def add(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(_: argparse.Namespace) -> int:
    """Build everything, with progress."""
    with Progress(console=NOTES) as progress:
        bars = {}

        def show(stage: str, part: float) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(stage, total=1.0)
            progress.update(bars[stage], completed=part)

        built = kernel.build(show)
    programs = machine.Programs.find()
    NOTES.print(f"kernel {built.key}, module {programs.module.key}, in {places.cache()}")
    return 0
