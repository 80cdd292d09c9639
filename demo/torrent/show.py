# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the torrent in every way, both directions, and shows it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from demo.conditions import Scenario
from demo.progress import Progress
from demo.scene import Scene
from demo.torrent import scene, table
from demo.torrent.conditions import LOADS, SCENARIOS, Conditions, Load
from demo.torrent.scene import Result
from testbed import netnice_up, random_file, scratch


class Torrent(Scene):
    """The scene, as the demo's command shows it."""

    SCENARIOS = SCENARIOS
    LOADS = LOADS
    PROGRAMS = ("transmission-daemon", "transmission-create", "opentracker", "nginx", "curl")

    def __init__(self, options: argparse.Namespace) -> None:
        self.conditions = Conditions(seconds=options.seconds, seed=options.seed)
        self.kinds: Sequence[Scenario] = options.scenarios
        self.loads: Sequence[Load] = options.loads
        self._markdown: bool = options.markdown
        self.results: list[Result] = []

    def run(self) -> None:
        """Each direction in each way."""
        runs = [(kind, load) for load in self.loads for kind in self.kinds]
        data = scratch("torrent") / "data"
        random_file(data, max(map(self.conditions.torrent_bytes, self.loads)))
        with netnice_up():
            for number, (kind, load) in enumerate(runs, 1):
                progress = Progress(f"{number}/{len(runs)} {load.key}: {kind.title}")
                result = scene.run(kind, load, data, self.conditions, progress)
                progress.end(f"queue {result.queue_median_ms:.0f} ms, torrent {result.torrent_bps / 1e6:.2f} Mbit/s")
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
        from demo.torrent.picture import draw  # matplotlib is slow to load and not needed before

        draw(self.results, self.conditions, file)
