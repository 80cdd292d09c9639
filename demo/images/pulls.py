# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The background: skopeo and podman's daemon pull an image from a registry, aria2c fetches a model from nginx."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from demo.background import Background, ending
from demo.conditions import Conditions, Scenario
from demo.downloads import ENDLESS, yielded
from demo.images.conditions import CONNECTIONS, LAYERS
from testbed import ByteCounter, Namespace, Nginx, Podman, Registry, TestbedError, program, random_image, scratch
from testbed.registry import SKOPEO, skopeo_environment

_NAME = "image"


def make_store(conditions: Conditions) -> Path:
    """A registry's folder with one image in it, of more bytes than the link carries in a run."""
    store = scratch("store")
    size = conditions.file_bytes * conditions.files_per_upload // LAYERS
    image = random_image(scratch("image"), LAYERS, size)
    with Namespace("store") as namespace, Registry(namespace, store) as registry:
        registry.push(image, _NAME)
    return store


@contextlib.contextmanager
def pulling(
    store: Path, scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """A pull while the context lasts, into a folder to which skopeo writes several layers at once."""
    with Registry(sender, store) as registry:
        words = ["--src-tls-verify=false", registry.image(_NAME), f"oci:{scratch('pulled')}/image"]
        argv = [*_under(scenario), program("skopeo"), *SKOPEO, "copy", "--quiet", *words]
        with _transferring(scenario, conditions, sender, receiver, registry.port, argv) as background:
            yield background


@contextlib.contextmanager
def daemon_pulling(
    store: Path, scenario: Scenario, conditions: Conditions, sender: Namespace, receiver: Namespace
) -> Iterator[Background]:
    """A pull that a client asks podman's daemon for: the daemon is in the background, its client is not."""
    with Registry(sender, store) as registry, Podman(receiver) as podman:
        if before := _under(scenario):
            receiver.run(*before, "-n", "0", "-p", str(podman.process.pid))
        argv = podman.pull(registry.image(_NAME))
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
        argv = [*_under(scenario), program("aria2c"), "--no-conf", "--quiet", *split, *file]
        with _transferring(scenario, conditions, sender, receiver, web.port, argv) as background:
            yield background


@contextlib.contextmanager
def _transferring(
    scenario: Scenario, c: Conditions, sender: Namespace, receiver: Namespace, port: int, argv: list[str]
) -> Iterator[Background]:
    earlier = yielded() if _under(scenario) else 0
    if scenario.kind == "marked":
        # Not by a preloaded library: a registry is written in Go, whose programs call the kernel themselves.
        rule = ["--protocol", "tcp", "--source-port", str(port), "--jump", "DSCP", "--set-dscp", "1"]
        sender.run("iptables", "--table", "mangle", "--append", "OUTPUT", *rule)
    with (
        ByteCounter(receiver, peer_port=port, interval=c.sample_s) as received,
        ending(receiver.spawn(*argv, env=skopeo_environment()) for _ in range(1)) as transfers,
    ):
        yield Background(transfers, received, {"local_port": port}, {"cubic"})
    if _under(scenario) and yielded() == earlier:
        raise TestbedError(f"scenario '{scenario.key}' is void: the receiver saw none of what was fetched")


def _under(scenario: Scenario) -> list[str]:
    return [program("netnice")] if scenario.kind == "netnice" else []
