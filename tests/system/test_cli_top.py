# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnicectl top: who is in the background, and what it costs to look."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from system.harness import cgroups
from system.harness.cgroups import inside
from system.harness.commands import PROGRAMS, Pair, Run
from testbed import Namespace, Nginx, Process, program

#: A second's look at so many connections: seconds of a core, and KiB.
_CONNECTIONS, _BUSY, _MEMORY = 1000, 0.05, 64 << 10
_MANY = """
import resource, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
held = []
for _ in range(%d):
    held += [socket.create_connection(listener.getsockname()), listener.accept()[0]]
print("all", flush=True)
time.sleep(600)
"""


def look(namespace: Namespace, *options: str) -> dict[str, Any]:
    shown = namespace.run("netnicectl", "top", "--json", "--interval", "0.5", *options).stdout
    return dict(json.loads(shown))


def upload_of(namespace: Namespace) -> dict[str, Any]:
    """The first look in which the one connection sends: what waits in the receiver's buffer is acknowledged by the
    megabyte, and some half seconds see nothing of it.
    """
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for row in look(namespace)["connections"]:
            if row["out_bps"] > 0:
                return dict(row)
    raise AssertionError("nothing was sent for 10 s")


@pytest.mark.usefixtures("up")
def test_an_upload_in_the_background(pair: Pair) -> None:
    with pair.b.spawn(sys.executable, PROGRAMS / "sink.py", "2e6", stdout=subprocess.PIPE) as sink:
        port = sink.line().strip()
        upload = ("netnice", "-n", "1", sys.executable, str(PROGRAMS / "send.py"), pair.b4, port, "cubic", "60")
        with pair.a.spawn(*upload) as sender:
            row = upload_of(pair.a)
            assert (row["level"], row["pid"]) == (1, sender.pid)
            assert row["peer"] == f"{pair.b4}:{port}"
            assert row["in_bps"] == 0
            assert row["out_bps"] * 0.5 / 8 <= 1.1 * row["sent"], "in half a second, no more than ever"
            assert row["rtt_us"] >= row["base_us"] > 0
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
def test_a_download_in_the_background(pair: Pair, netnicectl: Run) -> None:
    """Its congestion control is the foreground's: only its process tells, by its own niceness and by its cgroup's."""
    with Nginx(pair.b, {"data": 1 << 30}) as web, cgroups.made("job.service") as unit:
        words = [sys.executable, str(PROGRAMS / "fetch.py"), pair.b4, str(web.port), "/data"]
        with (
            pair.a.spawn("netnice", "-n", "2", "--receive-only", *words, stdout=subprocess.PIPE) as one,
            pair.a.spawn(*inside(unit, *words), stdout=subprocess.PIPE) as other,
        ):
            for process in (one, other):
                process.line()
            netnicectl("attach", "-n", "1", "--receive-only", str(unit))
            rows = {row["pid"]: row["level"] for row in look(pair.a)["connections"]}
            assert rows == {one.pid: 2, other.pid: 1}


def most_memory_kib(pid: int) -> int:
    """Of the program itself: what wait4 tells has in it what the test had when it forked."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


def test_what_it_costs() -> None:
    """Both looks of --once, the start of the program with them."""
    with Process([sys.executable, "-c", _MANY % (_CONNECTIONS // 2)], stdout=subprocess.PIPE) as held:
        assert held.line() == "all\n"
        top = subprocess.Popen([program("netnicectl"), "top", "--all", "--json"], stdout=subprocess.PIPE)
        assert top.stdout is not None
        first = top.stdout.read(1)  # the rest does not fit into the pipe: it lives until that is read
        memory = most_memory_kib(top.pid)
        seen = json.loads(first + top.stdout.read())
        top.stdout.close()
        _, status, used = os.wait4(top.pid, 0)
        top.returncode = os.waitstatus_to_exitcode(status)
    assert top.returncode == 0
    assert len(seen["connections"]) >= _CONNECTIONS
    assert used.ru_utime + used.ru_stime <= 2 * _BUSY
    assert memory <= _MEMORY


@pytest.mark.parametrize("words", [("--interval", "0"), ("--sort", "colour")])
def test_wrong_ones(words: tuple[str, ...]) -> None:
    done = subprocess.run([program("netnicectl"), "top", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words[1] in done.stderr
