# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnicectl demo and try: what a new user sees, and that nothing of it is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from measurements import Measure
from system.harness import kernel
from system.harness.commands import Pair, Run, descendants, netnicectl
from testbed import Nginx, program
from testbed.namespace import wait_until

#: A bottleneck whose buffer holds 80 ms.
LINK = "rate 20mbit burst 10kb limit 200kb"


def demo() -> subprocess.Popen[str]:
    """The demonstration, of which standard error is a pipe."""
    return subprocess.Popen([program("netnicectl"), "demo"], stderr=subprocess.PIPE, text=True)


def on_the_line(process: subprocess.Popen[str], *, loads: bool = True) -> list[int]:
    """Waits until pages are fetched; gives the processes that do so, with the guard. ``loads``: it loads netnice."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "page loads alone" in line:
            assert ("load netnice\n" in said) == loads, said
            return descendants(process.pid)
    raise AssertionError("no page was fetched")


def alive(pids: list[int]) -> list[int]:
    """Those that have not ended; a process that only waits to be reaped has."""
    found = []
    for pid in pids:
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(") ")[2][0] != "Z":
            found.append(pid)
    return found


def test_the_demo(down: dict[int, str], measure: Measure) -> None:
    done = json.loads(netnicectl("demo", "--json", timeout=90).stdout)
    kernel.assert_nothing_remains(down)
    phases = {phase["background"]: phase for phase in done["phases"]}
    assert list(phases) == ["nothing", "plain", "netnice"]
    assert all(len(phase["pages"]) > 3 for phase in phases.values())
    assert phases["nothing"]["uploads_bps"] is None
    mean = {name: float(phase["mean_ms"]) for name, phase in phases.items()}
    if not done["remarks"]:
        assert mean["netnice"] < mean["plain"]
    void = " (void: the machine did not keep the path's time)" if done["remarks"] else ""
    measure(f"demo: pages beside plain uploads{void}", mean["plain"] / mean["nothing"], "of alone", least=2)
    measure(f"demo: pages beside netnice uploads{void}", mean["netnice"] / mean["nothing"], "of alone", most=1.5)
    measure(f"demo: netnice uploads{void}", phases["netnice"]["uploads_bps"] / 1e6, "Mbit/s", least=6)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_demo_leaves_nothing(down: dict[int, str], number: signal.Signals) -> None:
    with demo() as process:
        pids = on_the_line(process)
        assert len(pids) >= 4, "the guard, the line, the server, the user"
        assert kernel.PINS.is_dir()
        process.send_signal(number)
        status = process.wait(10)
        wait_until(lambda: not alive(pids), "the processes of the line to end", seconds=10)
        kernel.assert_nothing_remains(down)
        if number == signal.SIGINT:
            assert status == 128 + signal.SIGINT
            assert process.stderr is not None
            assert "interrupted; everything is removed" in process.stderr.read()


@pytest.mark.usefixtures("up")
def test_a_demo_leaves_netnice_loaded_if_it_was() -> None:
    before = kernel.pins()
    with demo() as process:
        on_the_line(process, loads=False)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 128 + signal.SIGTERM
    assert kernel.pins() == before


def routed(pair: Pair) -> None:
    """The second namespace is the first one's router, at the other end of a slow line."""
    pair.a.run("ip", "route", "add", "default", "via", pair.b4)
    pair.b.run("tc", "qdisc", "add", "dev", "veth0", "root", "tbf", *LINK.split())


def test_a_line_of_ones_own(pair: Pair, down: dict[int, str]) -> None:
    """The server is the router, too; both kinds of latency see the queue of a plain download."""
    routed(pair)
    with Nginx(pair.b, {"big": 1 << 30}) as web:
        url = f"http://{pair.b4}:{web.port}/big"
        done: dict[str, Any] = json.loads(pair.a.run("netnicectl", "try", "--for", "5", "--json", url).stdout)
    kernel.assert_nothing_remains(down)
    assert done["url"] == url
    idle, plain, netnice = done["phases"]
    assert [one["download"] for one in done["phases"]] == ["idle", "plain", "netnice"]
    targets = [f"connecting to {pair.b4}, port {web.port}", f"echoes of the router {pair.b4}"]
    for phase in (idle, plain, netnice):
        assert [one["to"] for one in phase["latency"]] == targets
        assert all(one["probes"] > 3 and one["lost"] < one["probes"] for one in phase["latency"])
    assert idle["bps"] is None
    assert plain["bps"] > 2e6 < netnice["bps"]
    for number, target in enumerate(targets):
        mean = [phase["latency"][number]["mean_ms"] for phase in (idle, plain, netnice)]
        assert mean[1] > mean[0], f"{target}: {mean}"
        assert mean[1] > mean[2], f"{target}: {mean}"


def test_what_cannot_be_tried(pair: Pair, down: dict[int, str], as_nobody: Run) -> None:
    """Each says why, and leaves nothing."""
    with Nginx(pair.b, {"small": 10}) as web:
        url = f"http://{pair.b4}:{web.port}"
        for words, status, why in (
            (("/nothing",), 1, "the download has failed: curl: (22)"),
            ((":1/small",), 2, "its port is not a number"),
        ):
            done = pair.a.run("netnicectl", "try", "--for", "3", url + words[0], check=False)
            assert (done.returncode, why in done.stderr) == (status, True), done.stderr
        bare = {"PATH": "/nonexistent"}
        done = pair.a.run("netnicectl", "try", "--for", "3", f"{url}/small", check=False, env=bare)
        assert done.returncode == 1
        assert "curl is not installed" in done.stderr
    done = pair.a.run("netnicectl", "try", f"http://{pair.b4}:1/", check=False)
    assert done.returncode == 1
    assert f"cannot connect to {pair.b4}, port 1" in done.stderr
    for command in (("demo",), ("try", "http://192.0.2.1/")):
        refused = as_nobody("netnicectl", *command)
        assert (refused.returncode, "only root can" in refused.stderr) == (1, True), refused.stderr
    kernel.assert_nothing_remains(down)


def test_parts_are_not_started_by_hand() -> None:
    """A part ends with its parent; one whose parent is another process does not begin."""
    done = netnicectl("--part-of-demo", "server", str(os.getpid() + 1), check=False)
    assert done.returncode == 1
    assert "has ended" in done.stderr
