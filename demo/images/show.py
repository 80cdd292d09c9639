# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs documents beside each program that fetches, in each way, and shows it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from demo import scenario
from demo import table as documents
from demo.background import Transferring
from demo.conditions import SCENARIOS, Conditions, Scenario
from demo.downloads import downloading
from demo.images import table
from demo.images.conditions import LOADS, Load
from demo.images.pulls import daemon_pulling, fetching, make_store, pulling
from demo.progress import Progress
from demo.scenario import Result
from demo.scene import Scene
from testbed import netnice_up


class Images(Scene):
    """The scene, as the demo's command shows it."""

    SCENARIOS = SCENARIOS
    LOADS = LOADS
    PROGRAMS = ("docker-registry", "skopeo", "podman", "aria2c", "iptables", "nginx")

    def __init__(self, options: argparse.Namespace) -> None:
        self.conditions = Conditions(seconds=options.seconds, seed=options.seed, uploads=1, downloads=1)
        self._kinds: Sequence[Scenario] = options.scenarios
        self._loads: Sequence[Load] = options.loads
        self._markdown: bool = options.markdown
        self.runs: dict[str, list[Result]] = {}

    def run(self) -> None:
        """Documents alone, then beside each program in each way."""
        wanted: list[tuple[Scenario, str]] = [(one, "") for one in self._kinds if one.kind == "none"]
        wanted += [(one, load.key) for load in self._loads for one in self._kinds if one.kind != "none"]
        ways: dict[str, Transferring] = {"": downloading, "model": fetching}
        if any(load.key != "model" for load in self._loads):
            store = make_store(self.conditions)
            ways |= {"pull": partial(pulling, store), "daemon": partial(daemon_pulling, store)}
        with netnice_up():
            for number, (kind, load) in enumerate(wanted, 1):
                progress = Progress(f"{number}/{len(wanted)} {kind.title.format(transfers=load)}")
                result = scenario.run(kind, self.conditions, ways[load], progress)
                result.title = f"{load}: {kind.key}" if load else kind.title
                mean, got = result.foreground["mean_us"] / 1e3, result.background_bps / 1e6
                progress.end(f"documents {mean:.0f} ms on average, background {got:.2f} Mbit/s")
                self.runs.setdefault(load, []).append(result)

    @property
    def _results(self) -> list[Result]:
        return [one for results in self.runs.values() for one in results]

    @property
    def trusted(self) -> bool:
        return all(one.path_trusted for one in self._results)

    def record(self) -> dict[str, Any]:
        runs = [{"load": load, **_recorded(one)} for load, results in self.runs.items() for one in results]
        return {"conditions": asdict(self.conditions), "runs": runs}

    def doubts(self) -> list[str]:
        return documents.doubts(self._results)

    def text(self) -> str:
        return (table.markdown if self._markdown else table.plain)(self.runs)

    def draw(self, file: Path) -> None:
        from demo.images.picture import draw  # matplotlib is slow to load and not needed before

        draw(self.runs, self.conditions, file)


def _recorded(result: Result) -> dict[str, Any]:
    record = asdict(result)
    del record["documents"]
    return record
