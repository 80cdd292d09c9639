# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Hours of rules where systemd runs: the timer that is asked for, and what its unit does at that time."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.clock import hours
from system.harness.commands import Pair, netnicectl, runs_on
from system.harness.kernel import inside
from system.harness.timer import timer
from system.test_until import all_on, waiting
from testbed import program
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")
SECONDS = 3

#: In a namespace of mounts where systemd seems to run, with stand-ins for its commands: netnicectl.
_BOOTED = """\
mount -t tmpfs none /run/systemd && mkdir /run/systemd/system || exit
PATH={folder}:$PATH exec {netnicectl} policy "$@"
"""
_COMMAND = """#!/bin/sh
printf '%s\\n' "${{0##*/}}" "$@" >>{folder}/asked
echo >>{folder}/asked
"""


class Systemd:
    """Where it seems to run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("systemd-run", "systemctl"):
            (folder / name).write_text(_COMMAND.format(folder=folder))
            (folder / name).chmod(0o755)

    def policy(self, *words: str) -> None:
        script = _BOOTED.format(folder=self.folder, netnicectl=program("netnicectl"))
        subprocess.run([program("unshare"), "--mount", "sh", "-c", script, "sh", *words], check=True)

    def asked(self) -> list[list[str]]:
        """What its commands were called with."""
        text = (self.folder / "asked").read_text()
        return [call.splitlines() for call in text.split("\n\n") if call]


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    Path("/run/systemd").mkdir(exist_ok=True)
    yield Systemd(tmp_path)
    netnicectl("policy", "apply", "/dev/null")


def second(text: str) -> int:
    """The next of this time of day."""
    today = datetime.now().astimezone().date().isoformat()
    at = int(datetime.fromisoformat(f"{today} {text}").astimezone().timestamp())
    return at if at > time.time() else at + 24 * 3600


def test_a_timer_switches_what_runs(pair: Pair, systemd: Systemd, tmp_path: Path) -> None:
    """At the begin and at the end of the hours, with the connections in use."""
    file, stops = tmp_path / "policy.toml", ["systemctl", "stop", "netnice-hours-*.timer"]
    with kernel.cgroup("nnt-timed.service") as unit, pair.end(pair.a, "many", "5", first=inside(unit)) as holder:
        holder.line()
        rule = hours(SECONDS, 2 * SECONDS)
        file.write_text(f'[[rule]]\nunit = "nnt-timed.service"\n{rule}')
        systemd.policy("apply", str(file))
        begin, end = (second(text) for text in rule.split('"')[1::2])
        assert systemd.asked() == [stops, timer(begin)]
        assert set(runs_on(pair.a)) == {"cubic"}
        for at, expected in ((begin, "netnice"), (end, "cubic")):
            time.sleep(max(0.0, at - time.time()))
            systemd.policy("apply", "--again")
            wait_until(partial(all_on, pair, expected), f"all on {expected}")
            assert time.time() - at < 1
        assert systemd.asked()[2:4] == [stops, timer(end)]
        assert not waiting(b"netnice-hours"), "it waits where systemd does"
