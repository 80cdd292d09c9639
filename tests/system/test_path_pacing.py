# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Windows below one segment on the wire, and outages: two segments every 2/W round trips, also afterwards.

The round trip of the ideal is the one seen on the sender's wire in the same seconds: a busy machine's is longer. The
cores' own tests and the lab have all windows; here is one.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from system.harness.path import TOGETHER, Day, Trial, bursts, round_trips
from testbed import Capture, Namespace, black_hole, parameters, sockets

pytestmark = pytest.mark.verify("real traffic for 10 s and more, for figures that the lab asserts")
#: An eighth of a segment: force_window counts in 1/4096.
_WINDOW = 512
_HOLE = 3.0
Bursts = list[tuple[float, int]]


def _pair_gap(rtt: float) -> float:
    return 2 * rtt * 4096 / _WINDOW


def _gaps(found: Bursts) -> list[float]:
    return [later - sooner for (sooner, _), (later, _) in itertools.pairwise(found)]


def forced() -> contextlib.AbstractContextManager[None]:
    return parameters("netnice", force_window=_WINDOW, longest_gap=0)


def odd(found: Sequence[tuple[float, int]]) -> float:
    """The part of bursts, but for the first and last, that are no pairs."""
    inner = [segments for _, segments in found[1:-1]]
    return sum(segments != 2 for segments in inner) / len(inner)


def test_pairs_per_second_are_ideal(trial: Trial) -> None:
    def work(day: Day) -> tuple[Bursts, float]:
        with forced(), day.uploads(1, "netnice"):
            time.sleep(2 + 2 * _pair_gap(0.02))  # the handshake and rsync's own talk are over
            with Capture(day.a) as seen:
                time.sleep(7)
                assert day.upload_congestion_controls() == {"netnice"}
        upload = [p for p in seen.packets if day.store.port in (p.port, p.source_port)]
        return bursts(p for p in upload if p.leaves and p.payload > 0), statistics.mean(round_trips(upload))

    found, rtt = trial.on_a_path(work, stall=TOGETHER, rate="100mbit", rtt="20ms")
    ratio = (len(found) - 1) / (found[-1][0] - found[0][0]) * _pair_gap(rtt)
    assert odd(found) < 0.3
    assert 0.7 < ratio < 1.3
    trial("pairs at an eighth of a segment, of the ideal", ratio, "×", least=0.98, most=1.02)
    trial("bursts that are no pairs", odd(found), "×", most=0)


def test_a_containers_pairs_come_out_as_they_went_in(trial: Trial) -> None:
    """Behind a cable, a bridge and the host's address: gaps at the receiver."""

    def work(day: Day) -> tuple[Bursts, float]:
        with container(day.a) as inside, forced(), replace(day, a=inside).uploads(1, "netnice"):
            time.sleep(2 + 2 * _pair_gap(0.02))
            with Capture(inside) as left, Capture(day.b) as came:
                time.sleep(5)
        upload = [p for p in left.packets if day.store.port in (p.port, p.source_port)]
        arrived = [p for p in came.packets if p.port == day.store.port and p.payload > 0]
        return bursts(arrived), statistics.mean(round_trips(upload))

    found, rtt = trial.on_a_path(work, stall=TOGETHER, rate="100mbit", rtt="20ms")
    off = [gap / _pair_gap(rtt) for gap in _gaps(found)]
    assert odd(found) < 0.3
    assert 0.7 < statistics.median(off) < 1.3
    trial("bursts of a container that arrive as no pairs", odd(found), "×", most=0)
    trial("a container's shortest gap between pairs, of the ideal", min(off), "×", least=0.9)
    trial("a container's longest gap between pairs, of the ideal", max(off), "×", most=1.1)


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


def test_a_black_hole(trial: Trial) -> None:
    """After the outage: retransmission by the kernel's back-off, then exact pairs again."""

    def work(day: Day) -> tuple[Bursts, Bursts, float, float]:
        with forced(), day.uploads(1, "netnice"), Capture(day.b) as seen:
            time.sleep(6)
            fell = time.time()
            with black_hole(day.path):
                time.sleep(_HOLE)
            healed = time.time()
            time.sleep(10)
            (socket,) = sockets(day.a, peer_port=day.store.port)
            assert socket.congestion_control == "netnice"
        arrived = [p for p in seen.packets if p.payload > 0 and not p.leaves]
        before = bursts(p for p in arrived if p.seconds < fell)
        return before, bursts(p for p in arrived if p.seconds > healed), healed, socket.number("rtt") / 1e3

    before, after, healed, rtt = trial.on_a_path(work)
    resumed = after[0][0] - healed
    steady = statistics.median(_gaps([one for one in after if one[0] > healed + 4])) / _pair_gap(rtt)
    assert before
    # The kernel's timer doubles: 0.2, 0.6, 1.4, 3.0, 6.2 s after the last that got through.
    assert resumed < 7
    assert 0.7 < steady < 1.3
    trial("back after a black hole of 3 s", resumed, "s", most=3.5)
    trial("gaps between pairs after a black hole, of the ideal", steady, "×", least=0.95, most=1.05)


def test_lost_syns_only_cost_their_time(trial: Trial) -> None:
    """SYNs go again after 1 and 3 s; from then on all is as ever, and the socket is on netnice."""

    def work(day: Day) -> tuple[float, set[str]]:
        found: set[str] = set()
        with contextlib.ExitStack() as running:
            with black_hole(day.path):
                start = time.monotonic()
                (upload,) = running.enter_context(day.uploads(1, "netnice", bytes_each=2 << 20))
                time.sleep(2)
            while upload.running():
                found |= day.upload_congestion_controls()
                assert time.monotonic() < start + 30
                time.sleep(0.1)
            assert upload.returncode == 0
            return time.monotonic() - start, found

    took, found = trial.on_a_path(work)
    assert found == {"netnice"}
    trial("2 MiB whose SYNs are lost for 2 s", took, "s", most=7)
