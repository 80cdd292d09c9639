# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The experiments, and how many runs they are."""

import argparse

from netnice_lab.model import catalogue


def add(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(_: argparse.Namespace) -> int:
    """Print every experiment."""
    for found in catalogue.load_all():
        runs = sum(found.seeds_of(cell) for cell in found.cells())
        print(f"{found.name:22} {runs:4} runs  {found.title}")
        print(f"{'':22}            keys: {', '.join(found.sweep)}")
    return 0
