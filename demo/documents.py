# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The scene of the README: documents fetched beside uploads, or downloads, in each way of the background."""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from demo import scenario, table
from demo.conditions import SCENARIOS, Conditions
from demo.downloads import downloading
from demo.progress import Progress
from demo.scenario import Result
from demo.scene import Scene
from demo.uploads import make_source, uploading
from testbed import netnice_up


class Documents(Scene):
    """The scene, as the demo's command shows it."""

    SCENARIOS = SCENARIOS
    PROGRAMS = ("nginx", "rsync", "curl")
    OPTIONS = ("seconds", "seed", "uploads", "downloads", "clients", "full")

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.conditions = Conditions(
            seconds=options.seconds,
            seed=options.seed,
            uploads=options.uploads,
            downloads=options.downloads,
            clients=options.clients,
        )
        self.results: list[Result] = []

    def run(self) -> None:
        """Every scenario, one after the other."""
        c, chosen = self.conditions, self._options.scenarios
        with contextlib.ExitStack() as stack:
            if any(one.kind == "netnice" for one in chosen):
                stack.enter_context(netnice_up())
            transferring = downloading if c.downloads else partial(uploading, make_source(c))
            for number, one in enumerate(chosen, 1):
                progress = Progress(f"{number}/{len(chosen)} {one.title.format(transfers=c.transfers)}")
                result = scenario.run(one, c, transferring, progress)
                progress.end(
                    f"documents {result.foreground['mean_us'] / 1e3:.0f} ms on average, "
                    f"{c.transfers} {result.background_bps / 1e6:.2f} Mbit/s"
                )
                self.results.append(result)

    @property
    def trusted(self) -> bool:
        return all(result.path_trusted for result in self.results)

    def record(self) -> dict[str, Any]:
        return {"conditions": asdict(self.conditions), "scenarios": [_recorded(result) for result in self.results]}

    def doubts(self) -> list[str]:
        return table.doubts(self.results)

    def text(self) -> str:
        show = table.markdown if self._options.markdown else table.plain
        return show(self.results, full=self._options.full)

    def draw(self, file: Path) -> None:
        from demo.picture import draw  # matplotlib is slow to load and not needed before

        draw(self.results, self.conditions, file)


def _recorded(result: Result) -> dict[str, Any]:
    record = asdict(result)
    del record["documents"]
    return {**record, "spare_used": result.spare_used}
