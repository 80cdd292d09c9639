# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the distribution with each setting, and shows it."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from demo.distribution import scene, table
from demo.distribution.conditions import SCENARIOS, Conditions, Setting
from demo.distribution.result import Result, better
from demo.progress import Progress
from demo.scene import Scene
from testbed import netnice_up


class Distribution(Scene):
    """The scene, as the demo's command shows it."""

    SCENARIOS = SCENARIOS
    OPTIONS = ()
    PROGRAMS = ("nginx", "curl", "ping")

    def __init__(self, options: argparse.Namespace) -> None:
        self.conditions = Conditions()
        self._settings: Sequence[Setting] = options.scenarios
        self._markdown: bool = options.markdown
        self.results: list[Result] = []

    def run(self) -> None:
        """Each setting."""
        with netnice_up() if any(one.kind == "netnice" for one in self._settings) else contextlib.nullcontext():
            for number, setting in enumerate(self._settings, 1):
                progress = Progress(f"{number}/{len(self._settings)} {setting.title}")
                result = scene.run(setting, self.conditions, progress)
                progress.end(f"ping {result.ping_ms:.0f} ms, completion × {result.times:.2f}, {result.last_s:.0f} s")
                self.results.append(result)

    @property
    def trusted(self) -> bool:
        return all(one.path_trusted for one in self.results)

    def record(self) -> dict[str, Any]:
        runs = [{**asdict(one), "ping_ms": one.ping_ms, "times": one.times} for one in self.results]
        return {
            "conditions": asdict(self.conditions),
            "runs": runs,
            "better": [one.key for one in better(self.results)],
        }

    def doubts(self) -> list[str]:
        return table.doubts(self.results)

    def text(self) -> str:
        return (table.markdown if self._markdown else table.plain)(self.results)

    def draw(self, file: Path) -> None:
        from demo.distribution.picture import draw  # matplotlib is slow to load and not needed before

        draw(self.results, self.conditions, file)
