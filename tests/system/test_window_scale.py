# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The largest receive buffer of a host decides in which units it advertises windows: downloads yield with any."""

from __future__ import annotations

import statistics
import subprocess
import time

import pytest

from system.harness.commands import Pair, end, netnice, netnicectl
from system.harness.path import LARGEST, Trial, documents
from testbed import ByteCounter, Namespace, Nginx, Path, program, sockets
from testbed.namespace import wait_until

MIB = 1 << 20
USUAL = 6 * MIB
MOST = [512 << 10, 32 * MIB, 1 << 30]


def tune(home: Namespace, most: int) -> None:
    """As tuning guides have it: the third of tcp_rmem."""
    home.sysctl("net.ipv4.tcp_rmem", f"4096 131072 {most}")


def scale(namespace: Namespace, **ports: int) -> int:
    """That of the windows that one connection tells."""
    (one,) = (one for one in sockets(namespace, **ports) if one.state == "ESTAB")
    return int(one.info["wscale"].split(",")[1])


@pytest.mark.usefixtures("up")
class TestChosen:
    """Of a host whose own choice is 14: units of eleven segments."""

    @pytest.fixture(autouse=True)
    def tuned(self, pair: Pair) -> None:
        tune(pair.a, 1 << 30)

    @pytest.mark.parametrize("kind", [4, 6, "mapped"])
    def test_of_a_client(self, pair: Pair, kind: int | str) -> None:
        for words, expected in (("netnice", 8), ("env", 14)):
            port = int(pair.end(pair.b, "pour").line())
            with pair.end(pair.a, "fetch", pair.to(kind), str(port), "/", first=[words]) as process:
                process.line()
                assert scale(pair.a, peer_port=port) == expected

    def test_of_a_server(self, pair: Pair) -> None:
        for words, expected in (("netnice", 8), ("env", 14)):
            with pair.end(pair.a, "listen", first=[words]) as server:
                port = int(server.line())
                pair.end(pair.b, "connect", pair.a4, str(port)).line()
                assert scale(pair.a, local_port=port) == expected

    def test_of_a_server_that_runs_already(self, pair: Pair) -> None:
        with pair.end(pair.a, "serve") as server:
            port = server.line().strip()
            for level, expected in (("0", 8), ("off", 14)):
                netnice("-n", level, "-p", str(server.pid))
                with pair.end(pair.b, "connect", pair.a4, port):
                    server.line()
                    last = sockets(pair.b, peer_port=int(port))[-1]
                    assert int(last.info["wscale"].split(",")[0]) == expected

    def test_what_cannot_be_mended_is_named(self, pair: Pair) -> None:
        client = pair.connect().client
        netnice("-n", "0", "-p", str(client.pid))
        there = ["nsenter", f"--net={pair.a.file}", "--"]

        def said(*words: str) -> str:
            argv = [*there, program("netnicectl"), *words]
            return subprocess.run(argv, capture_output=True, text=True, check=False).stdout

        assert "its window scale is 14" in said("top", "--once")
        assert "(scale 14)" in said("doctor")
        for why in (said("explain", str(client.pid)), netnicectl("explain", str(client.pid)).stdout):
            assert "it yields badly on 1: the window scale is large" in why

    def test_of_an_upload_nothing_is_said(self, pair: Pair) -> None:
        port = pair.end(pair.b, "sink", "2e6").line().strip()
        with pair.end(pair.a, "send", pair.b4, port, "cubic", "60") as sender:
            netnice("-n", "0", "-p", str(sender.pid))
            wait_until(
                lambda: any(one.bytes_acked > 100_000 for one in sockets(pair.a, peer_port=int(port))), "it to send"
            )
            for words in (["top", "--once"], ["doctor"], ["explain", str(sender.pid)]):
                argv = ["nsenter", f"--net={pair.a.file}", "--", program("netnicectl"), *words]
                done = subprocess.run(argv, capture_output=True, text=True, check=False)
                assert "scale is" not in done.stdout
                assert "(scale 14)" not in done.stdout


@pytest.mark.timeout(600)
@pytest.mark.verify("sixteen downloads for 16 s, twelve times")
def test_documents_beside_sixteen_downloads(trial: Trial) -> None:
    """10 Mbit/s, 40 ms; three rounds of all, with other documents each. One round alone differs by up to .07."""
    latencies: dict[int, list[float]] = {most: [] for most in (USUAL, *MOST)}
    with (
        Namespace("www") as www,
        Namespace("home") as home,
        Path(www, home, rate="10mbit", rtt="40ms") as path,
        Nginx(www, {"documents": LARGEST}) as web,
    ):
        port = www.spawn(*end("pour"), stdout=subprocess.PIPE).line().strip()
        for most, seed in ((most, seed) for seed in (7, 8, 9) for most in (USUAL, *MOST)):
            tune(home, most)
            running = [home.spawn("netnice", *end("drain", www.address, port)) for _ in range(16)]
            time.sleep(4)
            window = documents(home, web, seed, 12)
            latencies[most] += window.latencies
            for one in running:
                one.end()
            time.sleep(1)
    trial.judge(path)
    usual = statistics.fmean(latencies[USUAL])
    for most in MOST:
        slower = statistics.fmean(latencies[most]) / usual
        trial(f"documents beside 16 downloads, tcp_rmem to {most >> 10} KiB, against 6 MiB", slower, "x", most=1.05)


@pytest.mark.verify("a download of 1 Gbit/s for 15 s, four times")
@pytest.mark.parametrize("most", [32 * MIB, 1 << 30])
def test_a_fast_long_path_loses_nothing(trial: Trial, most: int) -> None:
    rates = {}
    for words in ((), ("netnice",)):
        with (
            Namespace("www") as www,
            Namespace("home") as home,
            Path(www, home, rate="1gbit", rtt="100ms") as path,
        ):
            tune(home, most)
            www.sysctl("net.ipv4.tcp_wmem", f"4096 16384 {64 * MIB}")
            port = www.spawn(*end("pour"), stdout=subprocess.PIPE).line().strip()
            with ByteCounter(home, peer_port=int(port), interval=0.1) as counter:
                download = home.spawn(*words, *end("drain", www.address, port))
                time.sleep(15)
                now = time.monotonic()
                rates[bool(words)] = counter.rate(now - 8, now)
                download.end()
        trial.judge(path)
    share = rates[True] / rates[False]
    trial(f"a download of 1 Gbit/s and 100 ms, tcp_rmem to {most >> 20} MiB, of plain", share, "x", least=0.95)
