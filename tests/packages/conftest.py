# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The package, and one of a version before."""

from __future__ import annotations

from pathlib import Path

import pytest

from packages import package
from testbed import ownership


@pytest.fixture(scope="session")
def deb() -> Path:
    """The package of this tree."""
    return package.build(ownership.scratch("package"))


@pytest.fixture(scope="session")
def older_deb(deb: Path) -> Path:
    """The same under a lower version."""
    return package.older(deb, ownership.scratch("older"))
