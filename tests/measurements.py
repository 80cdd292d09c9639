# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measurements: figures that depend on how busy the machine is. Each has a bar, and a missed bar fails no test.

    @pytest.mark.verify("a measurement of 20 s")
    def test_documents_beside_uploads(measure: Measure) -> None:
        measure("documents beside uploads, against alone", ratio, "×", most=1.2)

``NETNICE_MEASUREMENTS`` names a file that gets a JSON line each; the report of ``./setup verify`` is made of it.
"""

import json
import math
import os
import time
from pathlib import Path
from typing import Protocol

import pytest

from report import described

_PROPERTY = "measurement"


class Measure(Protocol):
    """What the fixture ``measure`` gives."""

    def __call__(
        self, says: str, value: float, unit: str, *, least: float | None = None, most: float | None = None
    ) -> None:
        """Records ``value``, and whether it is at least ``least`` and at most ``most``.

        ``says`` is its name, the same in each run. Fails only if ``value`` is no number.
        """


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Measure:
    """Records a measurement of this test; may be called more than once."""

    def record(says: str, value: float, unit: str, *, least: float | None = None, most: float | None = None) -> None:
        if not math.isfinite(value):
            pytest.fail(f"nothing was measured: {says}: {value}")
        met = (least is None or value >= least) and (most is None or value <= most)
        line = json.dumps(
            {
                "nodeid": request.node.nodeid, "says": says, "value": float(value), "unit": unit,
                "least": least, "most": most, "met": met, "time": round(time.time()),
            }, ensure_ascii=False,
        )  # fmt: skip
        request.node.user_properties.append((_PROPERTY, line))
        if name := os.environ.get("NETNICE_MEASUREMENTS"):
            with Path(name).open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    return record


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Lists what was measured."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    lines = [v for r in reports if r.when == "call" for name, v in r.user_properties if name == _PROPERTY]
    if lines:
        terminalreporter.section("measurements")
    for line in lines:
        terminalreporter.line(described(json.loads(str(line))))
