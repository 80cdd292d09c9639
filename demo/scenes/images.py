# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Images pulled from a registry and a model over sixteen connections, beside the documents of the scene documents."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from demo.background import ENDLESS, Background, Conditions, Transferring, downloading, ending, under, yielding
from demo.scene import Progress, Scenario, Scene, aligned, bars, figure, loaded, markdown, titled
from demo.scenes.documents import doubts, short_rows
from demo.scenes.documents_run import Result, run
from testbed import ByteCounter, Namespace, Nginx, Podman, Registry, program, random_image, scratch
from testbed.containers import SKOPEO, skopeo_environment


@dataclass(frozen=True)
class Load:
    """One program that fetches over several connections."""

    key: str
    title: str


LOADS = (
    Load("pull", "an image's layers, by skopeo"),
    Load("daemon", "the same by podman's daemon"),
    Load("model", "a model over 16 connections, by aria2c"),
)

LAYERS = 8
"""Of the image. skopeo and podman fetch six at a time."""

CONNECTIONS = 16
"""Of aria2c, which allows no more to one server."""

Runs = Mapping[str, Sequence[Result]]
"""The results of each load, by its key; those with nothing beside the documents under ''."""

_IMAGE = "image"
_HEAD = ("background", "by", "documents take, mean", "1 in 100 takes over", "background gets")
_KINDS = {"nothing": "", "cubic": "plain (CUBIC)", "netnice": "netnice", "priority": "ideal: priority queue"}
_TITLES = {"": "nothing", **{load.key: load.title for load in LOADS}}


def make_store(conditions: Conditions) -> Path:
    """A registry's folder with one image in it, of more bytes than the link carries in a run."""
    store = scratch("store")
    size = conditions.file_bytes * conditions.files_per_upload // LAYERS
    image = random_image(scratch("image"), LAYERS, size)
    with Namespace("store") as namespace, Registry(namespace, store) as registry:
        registry.push(image, _IMAGE)
    return store


@contextlib.contextmanager
def pulling(
    store: Path, scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """A pull while the context lasts, into a folder to which skopeo writes several layers at once."""
    with Registry(sender, store) as registry:
        words = ["--src-tls-verify=false", registry.image(_IMAGE), f"oci:{scratch('pulled')}/image"]
        argv = [*under(scenario.kind), program("skopeo"), *SKOPEO, "copy", "--quiet", *words]
        with _transferring(scenario, conditions, sender, receiver, registry.port, argv) as background:
            yield background


@contextlib.contextmanager
def daemon_pulling(
    store: Path, scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """A pull that a client asks podman's daemon for: the daemon is in the background, its client is not."""
    with Registry(sender, store) as registry, Podman(receiver) as podman:
        if scenario.kind == "netnice":
            receiver.run(program("netnice"), "-n", "0", "-p", str(podman.process.pid))
        argv = podman.pull(registry.image(_IMAGE))
        with _transferring(scenario, conditions, sender, receiver, registry.port, argv) as background:
            yield background


@contextlib.contextmanager
def fetching(
    scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """A download over sixteen connections while the context lasts."""
    with Nginx(sender, {"model": ENDLESS}) as web:
        split = [f"--split={CONNECTIONS}", f"--max-connection-per-server={CONNECTIONS}", "--min-split-size=1M"]
        file = ["--file-allocation=none", f"--dir={scratch('model')}", web.url("model")]
        argv = [*under(scenario.kind), program("aria2c"), "--no-conf", "--quiet", *split, *file]
        with _transferring(scenario, conditions, sender, receiver, web.port, argv) as background:
            yield background


@contextlib.contextmanager
def _transferring(
    scenario: Scenario, c: Conditions, sender: Namespace, receiver: Namespace, port: int, argv: list[str]
) -> Iterator[Background]:
    if scenario.kind == "marked":
        # Not by a preloaded library: a registry is written in Go, whose programs call the kernel themselves.
        rule = ["--protocol", "tcp", "--source-port", str(port), "--jump", "DSCP", "--set-dscp", "1"]
        sender.run("iptables", "--table", "mangle", "--append", "OUTPUT", *rule)
    with (
        yielding(scenario),
        ByteCounter(receiver, peer_port=port, interval=c.sample_s) as received,
        ending(receiver.spawn(*argv, env=skopeo_environment()) for _ in range(1)) as transfers,
    ):
        yield Background(transfers, received, {"local_port": port}, {"cubic"})


def rows(runs: Runs) -> list[tuple[str, ...]]:
    """One row a run: documents against documents alone, goodput against the ideal of the same load."""
    alone = list(runs.get("", ()))
    made = []
    for load, results in runs.items():
        against = [one for one in alone if one not in results]
        cells = short_rows([*against, *results])[len(against) :]
        for one, (_, *figures) in zip(results, cells, strict=True):
            made.append((titled(_TITLES[load], one), _KINDS[one.key], *figures))
    return made


def table(runs: Runs, *, as_markdown: bool = False) -> str:
    """Aligned columns, or as docs/research/images.md has them."""
    return markdown(_HEAD, rows(runs)) if as_markdown else aligned([_HEAD, *rows(runs)])


class Images(Scene[Result]):
    """The scene, as the demo's command shows it."""

    LOADS = LOADS
    PROGRAMS = ("docker-registry", "skopeo", "podman", "aria2c", "iptables", "nginx")

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.conditions = Conditions(seconds=options.seconds, seed=options.seed, uploads=1, downloads=1)
        self.runs: dict[str, list[Result]] = {}

    def run(self) -> None:
        """Documents alone, then beside each program in each way."""
        kinds: Sequence[Scenario] = self.options.scenarios
        wanted: list[tuple[Scenario, str]] = [(one, "") for one in kinds if one.kind == "none"]
        wanted += [(one, load.key) for load in self.options.loads for one in kinds if one.kind != "none"]
        ways: dict[str, Transferring] = {"": downloading, "model": fetching}
        if any(load.key != "model" for load in self.options.loads):
            store = make_store(self.conditions)
            ways |= {"pull": partial(pulling, store), "daemon": partial(daemon_pulling, store)}
        for number, (kind, load) in enumerate(wanted, 1):
            progress = Progress(f"{number}/{len(wanted)} {kind.title.format(transfers=load)}")
            with loaded(kind.kind):
                result = run(kind, self.conditions, ways[load], progress)
            result.title = f"{load}: {kind.key}" if load else kind.title
            got = result.background_bps / 1e6
            progress.end(f"documents {result.mean_ms:.0f} ms on average, background {got:.2f} Mbit/s")
            self.results.append(result)
            self.runs.setdefault(load, []).append(result)

    def record(self) -> dict[str, Any]:
        runs = [{"load": load, **one.recorded()} for load, results in self.runs.items() for one in results]
        return {"conditions": asdict(self.conditions), "runs": runs}

    def doubts(self) -> list[str]:
        return doubts(self.results)

    def text(self) -> str:
        return table(self.runs, as_markdown=self.options.markdown)

    def draw(self, file: Path) -> None:
        """A group of bars a program: how long documents take above, what the background got below."""
        c = self.conditions
        loads = [load for load in LOADS if self.runs.get(load.key)]
        made = figure(3 * max(len(loads), 1) + 2, 7)
        documents, got = made.subplots(2, 1, sharex=True)

        def values(of: Callable[[Result], float]) -> dict[tuple[str, str], float]:
            return {(load, one.key): of(one) for load, results in self.runs.items() for one in results}

        alone = next((one.mean_ms for one in self.runs.get("", ())), 0)
        bars(documents, [load.key for load in loads], values(lambda one: one.mean_ms), alone)
        bars(got, [load.key for load in loads], values(lambda one: one.background_bps / 1e6))
        documents.set_ylabel("documents take, mean, ms")
        documents.legend(fontsize=8)
        got.set_ylabel("background gets, Mbit/s")
        got.set_xticks(range(len(loads)), [load.title.replace(", ", ",\n") for load in loads])
        made.suptitle(f"Documents on half of {c.rate_bps / 1e6:g} Mbit/s, {c.rtt_ms} ms")
        made.savefig(file, dpi=110)
