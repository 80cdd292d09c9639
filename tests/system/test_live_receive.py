# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice -p and what live connections receive: it begins to yield, stops, and survives what happens meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from system.harness import kernel
from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.days import until_trusted
from system.harness.downloads import downloads
from testbed import Path, Process, program
from testbed.namespace import wait_until


def receiver(netnicectl: Run) -> dict[str, int]:
    return dict(json.loads(netnicectl("status", "--json").stdout)["receiver"]["counters"])


def test_a_download_begins_to_yield_and_stops(up: dict[int, str], netnice: Run) -> None:
    """Alone it uses the path all the time, and is not thrown back to the window of a new connection."""

    def run() -> tuple[Path, tuple[list[float], list[float], list[float]]]:
        with downloads() as net, net.start(net.web) as first:
            time.sleep(3)
            alone, windows = [net.goodput(net.web, 2)], [net.window(net.web)]
            netnice("-n", "0", "--receive-only", "-p", str(first.pid))
            assert netnice("-p", str(first.pid)).stdout == "0 receive only\n"
            alone.append(net.goodput(net.web, 5))
            windows.append(net.window(net.web))
            with net.start(net.other):
                time.sleep(3)
                shares = [net.share(4)]
                netnice("-n", "off", "-p", str(first.pid))
                time.sleep(3)
                shares.append(net.share(4))
        return net.path, (alone, windows, shares)

    alone, (wide, narrow), (yielding, let_go) = until_trusted(run)
    assert min(alone) > 0.6
    assert narrow < wide / 2, "a window of the path, not of the kernel's buffers"
    assert yielding < 0.15
    assert let_go > max(0.2, 2 * yielding), "the kernel tunes the window again"


def test_it_is_killed_meanwhile(up: dict[int, str], netnice: Run, netnicectl: Run) -> None:
    """Nothing is left of its connections, and the next one is adopted as well."""
    with downloads() as net:
        for count in (1, 2):
            with net.start(net.web) as doomed:
                wait_until(lambda: net.received(net.web) > 500_000, "the transfer", process=doomed)
                netnice("-n", "0", "-p", str(doomed.pid))
                time.sleep(1)
                os.kill(doomed.pid, signal.SIGKILL)
            assert receiver(netnicectl)["adopted"] == count
    netnicectl("down")
    kernel.assert_nothing_remains(up)


def test_down_while_adopted_connections_live(up: dict[int, str], netnice: Run, netnicectl: Run) -> None:
    """They carry on at full speed, and nothing remains."""

    def run() -> tuple[Path, tuple[float, float]]:
        netnicectl("up")
        with downloads() as net, net.start(net.web) as first, net.start(net.other):
            wait_until(lambda: net.received(net.web) > 2_000_000, "the transfer", process=first, seconds=15)
            netnice("-n", "0", "--receive-only", "-p", str(first.pid))
            time.sleep(6)
            yielding = net.share(3)
            netnicectl("down")
            kernel.assert_nothing_remains(up)
            time.sleep(3)
            return net.path, (yielding, net.share(4))

    yielding, let_go = until_trusted(run)
    assert let_go > max(0.2, 2 * yielding)


def test_an_idle_connection_gets_its_window_back(up: dict[int, str], netnice: Run, netnicectl: Run) -> None:
    """Also one that sends no ACK while netnice goes down: nobody would do it afterwards."""
    with downloads() as net, net.start(net.web) as first:
        wait_until(lambda: net.received(net.web) > 500_000, "the transfer", process=first)
        netnice("-n", "0", "--receive-only", "-p", str(first.pid))
        time.sleep(2)
        narrow = net.window(net.web)
        net.web.process.signal(signal.SIGSTOP)
        wait_until(lambda: net.goodput(net.web, 0.5) == 0, "the last of what it had sent", seconds=20)
        netnicectl("down")
        kernel.assert_nothing_remains(up)
        net.web.process.signal(signal.SIGCONT)
        wait_until(lambda: net.window(net.web) > 2 * narrow, "the kernel's window", seconds=10)


@pytest.mark.usefixtures("up")
class TestWhich:
    def test_a_socket_of_a_level_is_handled_once(self, netnice: Run, netnicectl: Run, pair: Pair) -> None:
        server = pair.hold(pair.b, "listen")
        client = pair.hold(pair.a, "connect", pair.b4, server.line().strip(), nice=True)
        client.line()
        netnice("-n", "1", "-p", str(client.pid))
        assert (receiver(netnicectl)["connections"], receiver(netnicectl)["adopted"]) == (1, 0)
        netnice("-n", "off", "-p", str(client.pid))
        netnice("-n", "1", "-p", str(client.pid))
        assert (receiver(netnicectl)["connections"], receiver(netnicectl)["adopted"]) == (2, 1)

    def test_send_only_leaves_what_is_received_alone(self, netnice: Run, netnicectl: Run, pair: Pair) -> None:
        server = pair.hold(pair.b, "listen")
        client = pair.hold(pair.a, "connect", pair.b4, server.line().strip())
        client.line()
        netnice("-n", "1", "--send-only", "-p", str(client.pid))
        status = json.loads(netnicectl("status", "--json").stdout)["receiver"]
        assert not status["applications"], "nothing is attached that nobody needs"
        assert status["counters"]["connections"] == 0

    def test_what_a_server_accepts_afterwards(self, netnice: Run, netnicectl: Run, pair: Pair) -> None:
        """Its listening socket stays where it was made, in the foreground or at a level, and what it accepts follows
        the process all the same."""
        for words, before in (((), 0), (("netnice",), 1)):
            counted = receiver(netnicectl)["connections"]
            with pair.b.spawn(*words, sys.executable, PROGRAMS / "serve.py", stdout=subprocess.PIPE) as server:
                port = server.line().strip()
                yields = []
                for level in (None, "1", "off", "0"):
                    if level:
                        netnice("-n", level, "-p", str(server.pid))
                    now = receiver(netnicectl)["connections"]
                    with pair.hold(pair.a, "connect", pair.b4, port):
                        server.line()
                    yields.append(receiver(netnicectl)["connections"] - now)
                # Moved back and forth, the connections that it has begin too; those accepted are what counts.
                assert yields == [before, 1, 0, 1], counted


@pytest.mark.usefixtures("up")
def test_another_users_process_is_out_of_reach(pair: Pair, netnicectl: Run, as_nobody: Run) -> None:
    server = pair.hold(pair.b, "listen")
    client = pair.hold(pair.a, "connect", pair.b4, server.line().strip())
    client.line()
    done = as_nobody("netnice", "-n", "0", "-p", str(client.pid))
    assert done.returncode == 125
    assert "belongs to another user" in done.stderr
    drop = [program("setpriv"), "--reuid=65533", "--regid=65533", "--clear-groups", "--"]
    with Process([*drop, program("sleep"), "600"]) as theirs:
        done = as_nobody("netnice", "-n", "0", "-p", str(theirs.pid))
        assert done.returncode == 125
    assert receiver(netnicectl)["connections"] == 0
