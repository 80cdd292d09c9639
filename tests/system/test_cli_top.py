# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnicectl top: what is in the background."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from system.harness import kernel
from system.harness.commands import DROP, Pair, end, netnicectl
from system.harness.kernel import inside
from testbed import Namespace, Nginx, program
from testbed.namespace import wait_until

#: A bottleneck whose buffer holds 80 ms.
LINK = "rate 20mbit burst 10kb limit 200kb"


def look(namespace: Namespace, *options: str) -> dict[str, Any]:
    shown = namespace.run("netnicectl", "top", "--json", "--interval", "0.5", *options).stdout
    return dict(json.loads(shown))


def upload_of(namespace: Namespace) -> dict[str, Any]:
    """The first look in which the one connection sends. What waits in the receiver's buffer is acknowledged by the
    megabyte, and some half seconds see none of it.
    """
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for row in look(namespace)["connections"]:
            if row["out_bps"] > 0:
                return dict(row)
    raise AssertionError("nothing was sent for 10 s")


@pytest.mark.usefixtures("up")
def test_an_upload_in_the_background(pair: Pair) -> None:
    with pair.end(pair.b, "sink", "2e6") as sink:
        port = sink.line().strip()
        with pair.end(pair.a, "send", pair.b4, port, "cubic", "60", first=["netnice", "-n", "1"]) as sender:
            row = upload_of(pair.a)
            assert (row["level"], row["pid"]) == (1, sender.pid)
            assert row["peer"] == f"{pair.b4}:{port}"
            assert row["in_bps"] == 0
            assert row["out_bps"] * 0.5 / 8 <= 1.1 * row["sent"], "in half a second, no more than ever"
            # The smoothed RTT begins with the handshake's, which may round to 0 us here.
            wait_until(lambda: (now := upload_of(pair.a))["rtt_us"] >= now["base_us"] > 0, "an RTT of a segment")
            units = look(pair.a)["units"]
            assert list(units) == [row["unit"]]
            assert units[row["unit"]]["connections"] == 1
            assert not look(pair.a, "--filter", "nothing of the kind")["connections"]
            assert not look(pair.b)["connections"], "the other end is in the foreground"
            assert len(look(pair.b, "--all")["connections"]) == 1
            table = pair.a.run("netnicectl", "top", "--once").stdout.splitlines()
            assert table[0].split()[:3] == ["LEVEL", "PID", "PROGRAM"]
            assert table[1].split()[:2] == ["1", str(sender.pid)]


@pytest.mark.usefixtures("up")
def test_a_download_in_the_background(pair: Pair) -> None:
    """Its congestion control is the foreground's: only its process tells, by its own niceness and by its cgroup's."""
    with Nginx(pair.b, {"data": 1 << 30}) as web, kernel.cgroup("job.service") as unit:
        words = end("fetch", pair.b4, str(web.port), "/data")
        with (
            pair.a.spawn("netnice", "-n", "2", "--receive-only", *words, stdout=subprocess.PIPE) as one,
            pair.a.spawn(*inside(unit, *words), stdout=subprocess.PIPE) as other,
        ):
            for process in (one, other):
                process.line()
            netnicectl("attach", "-n", "1", "--receive-only", str(unit))
            rows = {row["pid"]: row["level"] for row in look(pair.a)["connections"]}
            assert rows == {one.pid: 2, other.pid: 1}


@pytest.mark.usefixtures("up")
def test_the_queue_of_a_download(pair: Pair, for_users: Path) -> None:
    """Downloads of the foreground fill the bottleneck's buffer, of 80 ms. The kernel's round trips do not show it.

    One may not fill it: TCP lets a sender have two skbs in its own device's queue, of which some are short.
    """
    pair.b.run("tc", "qdisc", "add", "dev", "veth0", "root", "tbf", *LINK.split())
    with Nginx(pair.b, {"data": 1 << 30}) as web, contextlib.ExitStack() as running:
        words = end("fetch", pair.b4, str(web.port), "/data")
        background = running.enter_context(pair.a.spawn("netnice", *words, stdout=subprocess.PIPE))
        background.line()
        for _ in range(8):
            running.enter_context(pair.a.spawn(*words, stdout=subprocess.PIPE)).line()

        def queue() -> int:
            (row,) = look(pair.a)["connections"]
            assert row["pid"] == background.pid
            return int(row["queue_us"])

        wait_until(lambda: queue() > 20_000, "the queue", seconds=60)
        shown = pair.a.run(*DROP, for_users / "netnicectl", "top", "--json").stdout
        (row,) = json.loads(shown)["connections"]
        assert (row["level"], row["queue_us"]) == (0, None), "only root can ask the receiver"


@pytest.mark.usefixtures("up")
def test_a_plot_of_one_connection(pair: Pair) -> None:
    with pair.end(pair.b, "sink", "2e6") as sink:
        port = sink.line().strip()
        with pair.end(pair.a, "send", pair.b4, port, "cubic", "60", first=["netnice"]):
            upload_of(pair.a)
            text = pair.a.run("netnicectl", "top", "--plot", "--once").stdout
            assert f" to {pair.b4}:{port}\n" in text
            assert "rate, out and in: " in text
            assert "queueing delay: " in text
            assert look(pair.a, "--plot")["samples"][0]["connections"] == 1


@pytest.mark.usefixtures("up")
def test_an_empty_screen_says_why(pair: Pair) -> None:
    """Without connections, and with those of the foreground alone."""
    assert pair.a.run("netnicectl", "top").stdout.startswith("There is no TCP connection in this network namespace.\n")
    pair.connect()
    said = pair.a.run("netnicectl", "top").stdout
    assert said.startswith("No connection of this network namespace is in the background; in the foreground: 1. ")
    assert "'netnicectl top --all'" in said
    assert "'netnice COMMAND'" in said
    assert pair.a.run("netnicectl", "top", "--plot").stdout == said


@pytest.mark.usefixtures("down")
def test_an_empty_screen_when_down(pair: Pair) -> None:
    assert "netnice is not loaded. To load it: 'netnicectl up', as root." in pair.a.run("netnicectl", "top").stdout


@pytest.mark.parametrize("words", [("--interval", "0"), ("--sort", "colour")])
def test_wrong_ones(words: tuple[str, ...]) -> None:
    done = subprocess.run([program("netnicectl"), "top", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words[1] in done.stderr
