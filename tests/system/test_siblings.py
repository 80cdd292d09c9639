# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which connections count as siblings: those that send. The lab's experiment 'programs' has more."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import ExitStack

import pytest

from system.harness.commands import DROP, PYTHON, end_as_text
from system.harness.path import Day, Trial, day
from testbed import ByteCounter, Namespace, Path, Process, sockets

pytestmark = pytest.mark.verify("real traffic for 20 s and more, for figures that the lab asserts")
RTT = "40ms"
#: s; a connection that has fallen silent counts for two turns of four.
SETTLED, MEASURED = 12, 10


@pytest.mark.parametrize(("idle", "warmed"), [(1, 1), (4, 1), (15, 1), (15, 60_000)])
def test_an_upload_beside_idle_connections(trial: Trial, idle: int, warmed: int) -> None:
    def goodput(words: tuple[str, ...]) -> float:
        with day(rate="20mbit", rtt=RTT) as at, at.b.spawn(*end_as_text("take"), stdout=subprocess.PIPE) as taker:
            port = int(taker.line())
            argv = end_as_text("pool", at.b.address, str(port), str(idle), str(warmed))
            with (
                at.a.spawn(*words, *argv, stdout=subprocess.PIPE) as upload,
                ByteCounter(at.b, local_port=port) as seen,
            ):
                assert upload.line() == "begins\n"
                time.sleep(SETTLED)
                begun = time.monotonic()
                time.sleep(MEASURED)
                return seen.rate(begun, begun + MEASURED)

    plain, nice = goodput(()), goodput(("netnice",))
    assert nice > 0.5 * plain
    trial(f"an upload beside {idle} idle connections of {warmed} bytes, of plain", nice / plain, "×", least=0.95)


def test_a_dual_stack_server_with_a_slow_client(trial: Trial) -> None:
    """Its IPv4 clients are ::ffff:a.b.c.d, 200 and 2 Mbit/s away: they share nothing."""
    rtts: list[float] = []
    with ExitStack() as stack:
        server, fast, slow = (stack.enter_context(Namespace(name)) for name in ("server", "fast", "slow"))
        pour = stack.enter_context(server.spawn("netnice", *end_as_text("pour"), stdout=subprocess.PIPE))
        port = pour.line().strip()
        for client, rate, queue in ((fast, "200mbit", "1bdp"), (slow, "2mbit", "170p")):
            stack.enter_context(Path(server, client, rate=rate, rtt=RTT, queue=queue))
            stack.enter_context(client.spawn(*end_as_text("drain", server.address, port)))
        time.sleep(SETTLED)
        for _ in range(20):
            time.sleep(0.5)
            rtts += [one.number("rtt") for one in sockets(server, local_port=int(port))]
    assert rtts
    trial("the RTT of a slow client beside a fast one, most of 10 s", max(rtts), "ms", most=150)


def upload(at: Day, port: str, *words: str, stack: ExitStack) -> Process:
    """One without end, begun."""
    argv = end_as_text("pool", at.b.address, port, "0", "1")
    process = stack.enter_context(at.a.spawn(*words, *argv, stdout=subprocess.PIPE))
    assert process.line() == "begins\n"
    return process


@pytest.mark.parametrize(("rate", "rtt"), [("10mbit", RTT), ("150mbit", "8ms")])
def test_uploads_beside_downloads_of_the_same_program(trial: Trial, rate: str, rtt: str) -> None:
    """The downloads' own sockets, which send nothing, are nice, too."""
    with day(rate=rate, rtt=rtt) as at, ExitStack() as stack:
        taker, pour = (
            stack.enter_context(at.b.spawn(*end_as_text(verb), stdout=subprocess.PIPE)) for verb in ("take", "pour")
        )
        taken, poured = taker.line().strip(), pour.line().strip()
        for _ in range(2):
            upload(at, taken, "netnice", stack=stack)
        with ByteCounter(at.b, local_port=int(taken)) as seen:
            time.sleep(SETTLED)
            alone = time.monotonic()
            for _ in range(2):
                stack.enter_context(at.a.spawn("netnice", *end_as_text("drain", at.b.address, poured)))
            time.sleep(SETTLED)
            beside = time.monotonic()
            time.sleep(MEASURED)
            kept = seen.rate(beside, beside + MEASURED) / seen.rate(alone - SETTLED / 2, alone)
        down = sum(one.bytes_received for one in sockets(at.a, peer_port=int(poured)))
    assert down > 0
    trial(f"uploads beside downloads at {rate} and {rtt}, of alone", kept, "×", least=0.7)


def test_an_upload_after_six_that_died(trial: Trial) -> None:
    """Their network takes what they send no longer; they send it again for minutes."""
    with day(rtt=RTT) as at, ExitStack() as stack:
        takers = [stack.enter_context(at.b.spawn(*end_as_text("take"), stdout=subprocess.PIPE)) for _ in range(2)]
        dead, port = (taker.line().strip() for taker in takers)
        for _ in range(6):
            upload(at, dead, "netnice", stack=stack)
        time.sleep(SETTLED)
        # The kernel here has no actions for filters: the peer's routing drops what comes for that port.
        at.b.run("sysctl", "-qw", "net.ipv4.ip_early_demux=0")
        at.b.run("ip", "rule", "add", "pref", "10", "lookup", "local")
        at.b.run("ip", "rule", "del", "pref", "0")
        at.b.run("ip", "rule", "add", "pref", "5", "ipproto", "tcp", "dport", dead, "blackhole")
        time.sleep(1)
        upload(at, port, "netnice", stack=stack)
        with ByteCounter(at.b, local_port=int(port)) as seen:
            time.sleep(SETTLED)
            begun = time.monotonic()
            time.sleep(MEASURED)
            goodput = seen.rate(begun, begun + MEASURED)
        stuck = [one for one in sockets(at.a, peer_port=int(dead)) if one.number("backoff") > 1]
        assert len(stuck) == 6, "all six retransmit"
    trial("an upload after six that died", goodput / 1e6, "Mbit/s of 10", least=0.95 * 9.5)


def counted(user: int) -> list[int]:
    """The accounts of a user's siblings, as eBPF has them (siblings.h): flows in this turn or the last."""
    turn = (int(time.monotonic() * 1e6) & 0xFFFFFFFF) >> 22
    maps = json.loads(subprocess.run(["bpftool", "-j", "map", "list"], capture_output=True, check=True).stdout)
    found = []
    for one in maps:
        if not str(one.get("name")).endswith(".bss"):
            continue
        words = ["bpftool", "-j", "map", "dump", "id", str(one["id"])]
        told = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        for section in told[0].get("formatted", {}).get("value", {}).get(".bss", []):
            for place in section.get("nn_places", {}).get("place", []):
                lately = (turn - place["turn"]) % 1024 <= 1
                if lately and place["of"]["user"] == user and place["flows"] | place["flows_before"]:
                    found.append(max(place["flows"], place["flows_before"]))
    return found


SEQUENCES = 100_000


def test_what_another_user_does_changes_nothing(trial: Trial) -> None:
    """Random connect, setsockopt, IPV6_ADDRFORM, disconnect, close by user `nobody`, on the sender's host or not."""

    def beside(where: str) -> float:
        with day(rate="20mbit", rtt=RTT) as at, ExitStack() as stack:
            taker = stack.enter_context(at.b.spawn(*end_as_text("take"), stdout=subprocess.PIPE))
            port = taker.line().strip()
            upload(at, port, "netnice", stack=stack)
            time.sleep(SETTLED)
            host, peer = (at.a, at.b) if where == "here" else (at.b, at.a)
            wanderers = [
                stack.enter_context(
                    host.spawn(
                        "netnice", *DROP,
                        *end_as_text("wander", peer.address, str(seed), str(SEQUENCES // 2), python=PYTHON),
                        stdout=subprocess.PIPE,
                    )
                )
                for seed in (1, 2)
            ]  # fmt: skip
            with ByteCounter(at.b, local_port=int(port)) as seen:
                begun = time.monotonic()
                while any(one.returncode is None for one in wanderers) and time.monotonic() < begun + 200:
                    assert counted(0) == [1], "of root's one flow"
                    time.sleep(1)
                told = [one.wait(1) for one in wanderers]
                assert all(out.endswith("done\n") for out, _ in told), told
                return seen.rate(begun, time.monotonic())

    kept = beside("here") / beside("there")
    trial("an upload beside a user's random sequences, of that beside them elsewhere", kept, "×", least=0.95)


@pytest.mark.parametrize(("verb", "serves"), [("send", "take"), ("drain", "pour")])
def test_a_socket_that_was_connected_to_a_near_peer_before(trial: Trial, verb: str, serves: str) -> None:
    """The base RTT of there would make a queue of the whole way to here."""

    def goodput(*words: str) -> float:
        with day(rtt=RTT) as at, ExitStack() as stack:
            server = stack.enter_context(at.b.spawn(*end_as_text(serves), stdout=subprocess.PIPE))
            port = server.line().strip()
            argv = end_as_text("again", at.b.address, port, verb)
            process = stack.enter_context(at.a.spawn(*words, *argv, stdout=subprocess.PIPE))
            assert process.line().strip().isdigit()
            assert process.line() == "begins\n"
            time.sleep(5)

            def moved() -> float:
                (one,) = (s for s in sockets(at.a, peer_port=int(port)) if s.state == "ESTAB")
                return one.bytes_received + one.bytes_acked

            before = moved()
            time.sleep(MEASURED)
            return moved() - before

    kept = goodput("netnice") / goodput()
    trial(f"a socket that was connected to a near peer before: {verb}, of plain", kept, "×", least=0.9)
