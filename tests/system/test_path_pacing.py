# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Windows below one segment, counted on the wire: two segments every 2/W round trips.

The round trip of the ideal is the one seen on the sender's wire in the same seconds: a busy machine's is longer.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from system.harness.bursts import TOGETHER, bursts, round_trips
from system.harness.days import Day, on_a_path, say
from testbed import Capture, Namespace, parameters

_ONE = 4096  # force_window counts in 1/4096 segment


@pytest.mark.parametrize(
    ("window", "seconds"),
    [(_ONE, 4), (_ONE // 2, 4), (_ONE // 8, 7), (85, 20)],
    ids=["1", "1/2", "1/8", "1/48"],
)
def test_pairs_per_second_are_ideal(window: int, seconds: int, capsys: pytest.CaptureFixture[str]) -> None:
    def measure(day: Day) -> tuple[list[tuple[float, int]], float]:
        with parameters("netnice", force_window=window, max_gap=0, peer_gap=0), day.uploads(1, "netnice"):
            time.sleep(2 + 2 * _pair_gap(window, 0.02))  # the handshake and rsync's own talk are over
            with Capture(day.a) as seen:
                time.sleep(seconds)
                assert day.upload_congestion_controls() == {"netnice"}
        upload = [p for p in seen.packets if day.store.port in (p.port, p.source_port)]
        return bursts(p for p in upload if p.leaves and p.payload > 0), statistics.mean(round_trips(upload))

    found, rtt = on_a_path(measure, stall=TOGETHER, rate="100mbit", rtt="20ms")
    per_second = (len(found) - 1) / (found[-1][0] - found[0][0])
    ideal = 1 / _pair_gap(window, rtt)
    say(capsys, f"W = {window / _ONE:.4f}: {per_second:.3f} pairs/s, ideal {ideal:.3f} at {rtt * 1e3:.2f} ms RTT")
    say(capsys, f"= {per_second / ideal:.3f}, over {len(found)} pairs")
    odd = [n for n, (_, segments) in enumerate(found[1:-1], 1) if segments != 2]
    assert not odd, [found[n - 1 : n + 2] for n in odd]
    assert 0.98 <= per_second / ideal <= 1.02


def test_a_containers_pairs_come_out_as_they_went_in(capsys: pytest.CaptureFixture[str]) -> None:
    """Behind a cable, a bridge and the host's address: gaps at the receiver within 10 % of the ideal."""
    window = _ONE // 8

    def measure(day: Day) -> tuple[list[tuple[float, int]], float]:
        with (
            container(day.a) as inside,
            parameters("netnice", force_window=window, max_gap=0, peer_gap=0),
            replace(day, a=inside).uploads(1, "netnice"),
        ):
            time.sleep(2 + 2 * _pair_gap(window, 0.02))
            with Capture(inside) as left, Capture(day.b) as came:
                time.sleep(7)
        upload = [p for p in left.packets if day.store.port in (p.port, p.source_port)]
        arrived = [p for p in came.packets if p.port == day.store.port and p.payload > 0]
        return bursts(arrived), statistics.mean(round_trips(upload))

    found, rtt = on_a_path(measure, stall=TOGETHER, rate="100mbit", rtt="20ms")
    gaps = [later - sooner for (sooner, _), (later, _) in itertools.pairwise(found)]
    off = [gap / _pair_gap(window, rtt) for gap in gaps]
    say(capsys, f"a container's gaps: {min(off):.3f} to {max(off):.3f} of the ideal, {len(gaps)} of them")
    assert {segments for _, segments in found[1:-1]} == {2}
    assert min(off) >= 0.9
    assert max(off) <= 1.1


@contextlib.contextmanager
def container(host: Namespace) -> Iterator[Namespace]:
    """A namespace that the host is the way out of, as container engines make them."""
    with Namespace("c") as inside:
        for words in (
            "ip link add br0 type bridge",
            "ip addr add 10.77.0.1/24 dev br0",
            f"ip link add veth1 type veth peer name eth0 netns {inside.name}",
            "ip link set veth1 master br0 up",
            "ip link set br0 up",
            "sysctl -qw net.ipv4.ip_forward=1",
            "iptables -t nat -A POSTROUTING -s 10.77.0.0/24 -j MASQUERADE",
        ):
            host.run(*words.split())
        for words in (
            "ip addr add 10.77.0.2/24 dev eth0",
            "ip link set eth0 up",
            "ip route add default via 10.77.0.1",
        ):
            inside.run(*words.split())
        yield inside


def _pair_gap(window: int, rtt: float) -> float:
    return 2 * rtt * _ONE / window
