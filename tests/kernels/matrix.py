# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Each kernel's machine runs once, two at a time."""

from __future__ import annotations

import json
import platform
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kernels import archive, machine
from testbed import program, scratch

ROOT = Path(__file__).parents[2]
AT_ONCE = 2


def verifier() -> Path:
    """crates/loader/tests/verifier.rs, compiled."""
    words = ["cargo", "test", "--locked", "--package", "netnice-loader", "--test", "verifier"]
    done = subprocess.run(
        [*words, "--no-run", "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    (found,) = [message["executable"] for message in messages if message.get("executable")]
    return Path(found)


def reports(*, pin: bool = False) -> dict[Path, machine.Report]:
    """By kernel, the oldest first. ``pin``: the verifier's numbers become those that were found."""
    listed = subprocess.run([program("netnice"), "-l", "--json"], capture_output=True, text=True, check=True).stdout
    algorithms = [entry["name"] for entry in json.loads(listed)["comparison"]]
    binaries = [Path(program(name)) for name in ("netnice", "netnicectl", "setpriv", "tc")] + [verifier()]

    def boot(kernel: Path) -> machine.Report:
        files = machine.initramfs(kernel, scratch(f"kernel-{kernel.name}"), algorithms, binaries)
        report = machine.run(kernel, files, pin=pin)
        major, minor = release = archive.release(kernel.name)
        # This host's release the loader's test pins, by its own kernel: builds of one release differ by a third.
        if pin and "pins" in report.steps and release != archive.release(platform.release()):
            (machine.VERIFIER / f"{major}.{minor}.json").write_text(report.steps["pins"].said)
        return report

    kernels = archive.kernels()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(kernels, pool.map(boot, kernels), strict=True))
