# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the household beside every background, and shows it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from demo.conditions import SCENARIOS, Scenario
from demo.household import scene, table
from demo.household.conditions import LOADS, Conditions, Load
from demo.household.scene import Result
from demo.progress import Progress
from demo.scene import Scene
from demo.uploads import make_source
from testbed import netnice_up


class Household(Scene):
    """The scene, as the demo's command shows it."""

    SCENARIOS = SCENARIOS
    LOADS = LOADS
    PROGRAMS = ("nginx", "rsync", "curl")

    def __init__(self, options: argparse.Namespace) -> None:
        self.conditions = Conditions(seconds=options.seconds, seed=options.seed)
        self.kinds: Sequence[Scenario] = options.scenarios
        self.loads: Sequence[Load] = options.loads
        self._markdown: bool = options.markdown
        self.results: list[Result] = []

    def run(self) -> None:
        """All of it: the household alone, then each load in each way."""
        runs: list[tuple[Scenario, Load | None]] = [(one, None) for one in self.kinds if one.kind == "none"]
        runs += [(one, load) for load in self.loads for one in self.kinds if one.kind != "none"]
        source = make_source(self.conditions.transfers(LOADS[0]))
        with netnice_up():
            for number, (kind, load) in enumerate(runs, 1):
                title = kind.title.format(transfers=load.title if load else "")
                progress = Progress(f"{number}/{len(runs)} {title}")
                result = scene.run(kind, load, source, self.conditions, progress)
                progress.end(f"call {result.call_p95_ms:.0f} ms, page {result.page_mean_ms:.0f} ms")
                self.results.append(result)

    @property
    def trusted(self) -> bool:
        return all(one.path_trusted for one in self.results)

    def record(self) -> dict[str, Any]:
        return {"conditions": asdict(self.conditions), "runs": [asdict(one) for one in self.results]}

    def doubts(self) -> list[str]:
        return table.doubts(self.results)

    def text(self) -> str:
        return (table.markdown if self._markdown else table.plain)(self.results)

    def draw(self, file: Path) -> None:
        from demo.household.picture import draw  # matplotlib is slow to load and not needed before

        draw(self.results, self.conditions, file)
