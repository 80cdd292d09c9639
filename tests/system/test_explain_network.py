# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnicectl explain of a process whose traffic does not yield, or is not where its user looks."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from system.harness.commands import DROP, Pair, Run, name, netnicectl
from testbed import Process, program
from testbed.namespace import wait_until

pytestmark = pytest.mark.usefixtures("up")

#: Sockets of both families that have a port, and one that has none.
UDP = """if True:
    import signal, socket
    made = [socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6, socket.AF_INET)]
    for one in made[:2]:
        one.bind(("", 0))
    print(flush=True)
    signal.pause()
"""


def explain(pid: int) -> str:
    """As root sees it."""
    return netnicectl("explain", str(pid)).stdout


def test_another_network_namespace_is_looked_into(pair: Pair) -> None:
    client = pair.connect(client=[program("netnice")]).client
    said = explain(client.pid)
    assert "its connections  1 on netnice\n" in said
    assert f"in another network namespace: 'sudo nsenter -t {client.pid} -n netnicectl top' shows it" in said
    assert "incoming traffic yields on 1, does not on 0" in said
    words = ["--", program("netnicectl"), "explain", str(client.pid)]
    there = subprocess.run(["nsenter", f"--net={pair.a.file}", *words], capture_output=True, text=True, check=True)
    assert "its connections  1 on netnice\n" in there.stdout
    assert "another network namespace" not in there.stdout


@pytest.mark.parametrize("elsewhere", [False, True])
def test_udp_does_not_yield(pair: Pair, elsewhere: bool) -> None:
    argv = [sys.executable, "-c", UDP]
    started = pair.a.spawn(*argv, stdout=subprocess.PIPE) if elsewhere else Process(argv, stdout=subprocess.PIPE)
    with started as process:
        process.line()
        said = explain(process.pid)
        assert "its connections  none of TCP\n" in said
        assert "UDP sockets: 2. UDP does not yield; for QUIC: 'netnice --quic=tcp COMMAND'" in said
        assert "another process may send for it" not in said
        found = json.loads(netnicectl("explain", "--json", str(process.pid)).stdout)
        assert (found["udp_sockets"], found["other_network_namespace"]) == (2, elsewhere)


def test_udp_that_is_no_quic_has_no_advice_for_quic(pair: Pair) -> None:
    resolves = (
        "import signal, socket; s = socket.socket(type=socket.SOCK_DGRAM); s.connect(('192.0.2.53', 53));"
        " print(flush=True); signal.pause()"
    )
    pair.a.run("ip", "route", "add", "default", "via", pair.b4)
    with pair.a.spawn(sys.executable, "-c", resolves, stdout=subprocess.PIPE) as process:
        process.line()
        said = explain(process.pid)
        assert "UDP sockets: 1. UDP does not yield\n" in f"{said}\n"
        assert "--quic" not in said


def test_a_plain_program_has_a_next_step(pair: Pair, as_nobody: Run) -> None:
    client = pair.connect().client
    step = f"to put it in the background: 'sudo netnice -n 0 -p {client.pid}'\n"
    for said in (explain(client.pid), as_nobody("netnicectl", "explain", str(client.pid)).stdout):
        assert step in said
    assert step not in explain(pair.connect(client=[program("netnice")]).client.pid)


def test_a_client_without_sockets_has_perhaps_a_daemon() -> None:
    with Process([program("sleep"), "600"]) as process:
        said = explain(process.pid)
        assert "its connections  none of TCP\n" in said
        assert "another process may send for it: 'sudo netnicectl top --all'" in said
        assert "UDP" not in said


def test_what_a_user_may_not_see_is_no_absence(pair: Pair, as_nobody: Run) -> None:
    client = pair.connect().client
    said = as_nobody("netnicectl", "explain", str(client.pid)).stdout
    assert "its connections  not known\n" in said
    assert f"only root can see them: 'sudo netnicectl explain {client.pid}'" in said
    assert "none" not in said


def test_a_users_own_process_elsewhere(pair: Pair, as_nobody: Run) -> None:
    with pair.a.spawn(*DROP, "sleep", "600") as process:
        wait_until(lambda: name(process.pid) == "sleep", "it to run")
        said = as_nobody("netnicectl", "explain", str(process.pid)).stdout
        assert "in another network namespace" in said
        assert f"only root can see them: 'sudo netnicectl explain {process.pid}'" in said
