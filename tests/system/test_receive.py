# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is received yields, by every kind of address, and only of the connections that are to."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from system.harness import kernel
from system.harness.commands import Pair, call, netnice, receiver
from testbed import Process

#: A bottleneck, so that there is something to yield: on a bare cable TIDE rightly grows with its reader.
LINK = "rate 20mbit burst 10kb limit 200kb"
#: Bytes. Seen: at most 13,000 where netnice narrows the window, at least 236,000 where it does not.
NARROW = 50_000


#: A window of an application's own.
OWN = 20_000


def fetch(pair: Pair, kind: int | str, *words: str, own: str = "") -> Process:
    """A download that tells its window's clamp five times a second."""
    pair.b.run("tc", "qdisc", "add", "dev", "veth0", "root", "tbf", *LINK.split())
    port = pair.end(pair.b, "pour").line().strip()
    return pair.end(pair.a, "fetch", pair.to(kind), port, "/", *filter(None, [own]), first=words)


def clamps(process: Process, count: int = 5) -> list[int]:
    return [int(process.line()) for _ in range(count)]


def segments() -> int:
    counters = receiver()
    assert counters["unstamped"] <= counters["segments"] / 10, "their timestamps are found"
    return counters["segments"]


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("kind", [4, 6, "mapped"])
class TestAddresses:
    """IPv4, IPv6, and IPv4 on an IPv6 socket: what arrives by each is understood."""

    def test_a_command(self, pair: Pair, kind: int | str) -> None:
        before, process = segments(), fetch(pair, kind, "netnice")
        assert max(clamps(process)) < NARROW
        assert segments() > before + 100

    def test_a_connection_in_use(self, pair: Pair, kind: int | str) -> None:
        before, process = segments(), fetch(pair, kind)
        assert min(clamps(process)) > 2 * NARROW, "the kernel's own"
        assert segments() == before
        netnice("-n", "0", "-p", str(process.pid))
        # It joins amid a queue of its own, and takes up to two seconds to drain it and to see what is left.
        assert any(int(process.line()) < NARROW / 2 for _ in range(20))
        assert max(clamps(process)) < NARROW, "and it stays so"
        assert segments() > before + 100
        netnice("-n", "off", "-p", str(process.pid))
        clamps(process, 1)
        let_go = segments()
        clamps(process, 2)
        assert segments() == let_go


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("ended_by", ["off", "down"])
def test_a_window_that_the_application_limited(pair: Pair, ended_by: str) -> None:
    """Wider than netnice's, and narrower than the kernel's: never exceeded, and left as it was."""
    process = fetch(pair, 4, "netnice", own=str(OWN))
    assert max(clamps(process, 25)) <= OWN
    if ended_by == "off":
        netnice("-n", "off", "-p", str(process.pid))
    else:
        call("netnicectl", "down")
    clamps(process, 1)
    assert clamps(process, 3) == [OWN] * 3


@pytest.mark.usefixtures("up")
class TestWhich:
    def test_a_socket_of_a_level_is_handled_once(self, pair: Pair) -> None:
        before = receiver()
        client = pair.connect(client=["netnice"]).client

        def more() -> tuple[int, int]:
            return tuple(receiver()[name] - before[name] for name in ("connections", "adopted"))  # type: ignore[return-value]

        netnice("-n", "1", "-p", str(client.pid))
        assert more() == (1, 0)
        netnice("-n", "off", "-p", str(client.pid))
        netnice("-n", "1", "-p", str(client.pid))
        assert more() == (2, 1)

    def test_what_a_server_accepts_afterwards(self, pair: Pair) -> None:
        """Its listening socket stays where it was made, in the foreground or at a level, and what it accepts follows
        the process all the same.
        """
        for words, before in (((), 0), (("netnice",), 1)):
            with pair.end(pair.b, "serve", first=words) as server:
                port = server.line().strip()
                yields = []
                for level in (None, "1", "off", "0"):
                    if level:
                        netnice("-n", level, "-p", str(server.pid))
                    now = receiver()["connections"]
                    with pair.end(pair.a, "connect", pair.b4, port):
                        server.line()
                    yields.append(receiver()["connections"] - now)
                # Moved back and forth, the connections that it has begin too; those accepted are what counts.
                assert yields == [before, 1, 0, 1]


@pytest.mark.usefixtures("fresh")
def test_a_connection_that_the_kernel_has_no_memory_for_is_counted(pair: Pair) -> None:
    pair.a.run("sysctl", "-qw", "net.core.optmem_max=500")
    pair.connect(client=["netnice"])
    assert receiver()["refused"] == 1
    assert receiver()["connections"] == 0
    assert "no memory for them (sysctl net.core.optmem_max)" in call("netnicectl", "status").stdout


@pytest.mark.usefixtures("fresh")
def test_send_only_leaves_what_is_received_alone(pair: Pair) -> None:
    netnice("-n", "1", "--send-only", "-p", str(pair.connect().client.pid))
    assert not (kernel.LINKS / "receiver-adopt-root").exists(), "nothing is attached that is not needed"
    assert receiver()["connections"] == 0


def test_a_receiver_by_itself_is_set() -> None:
    """`netnice-receiver`, as the lab and programs of one's own have it: without the rest."""
    pins = Path("/sys/fs/bpf") / f"netnice-test-{os.getpid()}"

    def values() -> str:
        return str(kernel.bpftool("map", "dump", "pinned", pins / "params"))

    with kernel.cgroup() as folder:
        call("netnice-receiver", "attach", str(folder), str(pins))
        try:
            before = values()
            call("netnice-receiver", "set", str(pins), "tide", "floor=3")
            assert values() != before
            call("netnice-receiver", "set", str(pins), "tide", "floor=1")
            assert values() == before
            refused = call("netnice-receiver", "set", str(pins), "tide", "floor=11", check=False)
            assert (refused.returncode, "1 to 10" in refused.stderr) == (1, True), refused.stderr
        finally:
            shutil.rmtree(pins)


@pytest.mark.usefixtures("up")
def test_a_clamp_of_less_is_an_applications_own(pair: Pair) -> None:
    process = fetch(pair, 4, "netnice", own=str(OWN))
    assert max(clamps(process)) <= OWN
