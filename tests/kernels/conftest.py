# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""All tests look at the same machines' reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kernels import machine, matrix

Reports = dict[Path, machine.Report]


@pytest.fixture(scope="session")
def reports() -> Reports:
    """NETNICE_PIN=1: the verifier's numbers become those that the machines found."""
    return matrix.reports(pin="NETNICE_PIN" in os.environ)
