# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Uploads over real paths, measured: the foreground gets the path, and netnice gets what is left.

The lab asserts each of these figures in virtual time, with many starts; a run here is one start on one machine. What is
asserted here is coarse: that it yields at all, and that it works at all.
"""

from __future__ import annotations

import contextlib
import math
import signal
import statistics
import time
from collections.abc import Sequence

import pytest

from system.harness.commands import call
from system.harness.path import RATE, Day, Trial, downloads
from testbed import ByteCounter, Capture, Namespace, Nginx, Packet, Veth, sockets
from testbed.namespace import wait_until

pytestmark = pytest.mark.verify("real traffic for 10 s and more, for figures that the lab asserts")
_RTT = 0.04  # s, of the empty path
_WINDOW = 2 * _RTT  # over which a rate is a rate
_TURNS = 3


def begun(day: Day, count: int) -> None:
    """The data of so many uploads flow: rsync's greetings take a second."""

    def flowing() -> bool:
        return sum(one.bytes_acked > 100_000 for one in sockets(day.a, peer_port=day.store.port)) >= count

    wait_until(flowing, "the uploads to begin", seconds=20)


def test_a_download_keeps_its_rate_beside_8_uploads(trial: Trial) -> None:
    """From three seconds after their data begin. CUBIC's own sawtooth takes about 5 s here."""
    alone_for, beside_for, early = 15, 36, 12

    def work(day: Day) -> tuple[float, float, float, set[str]]:
        with day.arriving_downloads() as documents, day.download():
            time.sleep(3)
            start = time.monotonic()
            time.sleep(alone_for)
            alone = documents.rate(start, start + alone_for)
            with day.uploads(8, "netnice"):
                wait_until(lambda: bool(day.upload_congestion_controls()), "the uploads")
                time.sleep(1 + 3)
                start = time.monotonic()
                time.sleep(beside_for + 0.5)
                beside = documents.rate(start, start + beside_for)
                return (
                    beside / alone,
                    documents.rate(start, start + early) / alone,
                    alone,
                    day.upload_congestion_controls(),
                )

    kept, first, alone, found = trial.on_a_path(work)
    assert found == {"netnice"}
    assert alone > RATE / 2
    assert kept > 0.7
    trial("a download beside 8 uploads, of its rate alone", kept, "×", least=0.97)
    trial("the same in the first 12 s", first, "×", least=0.96)


def test_a_lone_flow_is_as_fast_as_cubic(trial: Trial) -> None:
    seconds, turns = 10, 2

    def goodput(day: Day, *words: str) -> float:
        with day.arriving_uploads() as arrived:
            start = time.monotonic()
            with day.uploads(1, *words):
                time.sleep(seconds)
                assert day.upload_congestion_controls() == {"netnice" if words else "cubic"}
                return arrived.rate(start, start + seconds - 0.2)

    def work(day: Day) -> tuple[float, float]:
        both = [(goodput(day, "netnice"), goodput(day)) for _ in range(turns)]
        return statistics.fmean(nice for nice, _ in both), statistics.fmean(cubic for _, cubic in both)

    nice, cubic = trial.on_a_path(work)
    assert nice > cubic / 2
    trial("a lone upload in its first 10 s, of CUBIC's rate", nice / cubic, "×", least=0.95)


def test_8_uploads_fill_the_path_give_way_and_come_back(trial: Trial) -> None:
    """A download comes and goes; all from the first segment on, as it arrives."""

    def work(day: Day) -> tuple[float, list[float], list[float], list[float], list[float]]:
        yielding, back, first, ends = [], [], [], []
        with Capture(day.b) as seen, day.arriving_uploads() as arrived, day.uploads(8, "netnice"):
            begun(day, 8)
            time.sleep(2)
            start = time.monotonic()
            time.sleep(8)
            filled = arrived.rate(start, start + 8) / RATE
            for _ in range(_TURNS):
                with day.download() as download:
                    time.sleep(9)  # so long until a new download has the link
                    yielding.append(arrived.rate(time.monotonic() - 3, time.monotonic()) / RATE)
                    download.signal(signal.SIGKILL)
                    ends.append(time.monotonic())
                    time.sleep(5)
            for end in ends:
                rates = [(t - end, arrived.rate(t - 0.5, t)) for t in arrived.times if end + 0.5 <= t <= end + 5]
                back.append(next((t for t, rate in rates if rate >= 0.8 * RATE), math.inf))
                first.append(arrived.rate(end, end + 2) / RATE)
        arriving = [packet for packet in seen.packets if packet.payload > 0 and not packet.leaves]
        uploads = [packet for packet in arriving if packet.port == day.store.port]
        starts = _first_segments([packet for packet in arriving if packet.source_port == day.web.port])
        return filled, yielding, back, first, [_given_way(uploads, one) / _RTT for one in starts]

    filled, yielding, back, first, trips = trial.on_a_path(work)
    assert filled > 0.5, "alone they use the path"
    assert max(yielding) < 0.4, "they yield"
    assert max(back) < math.inf, "they come back"
    assert len(trips) == _TURNS and max(trips) < math.inf, "they give way"
    trial("8 uploads alone, of the path", filled, "×", least=0.85)
    trial("8 uploads beside a download, of the path", statistics.fmean(yielding), "×", most=0.1)
    trial("8 uploads are back at 80 % of the path", statistics.fmean(back), "s", most=2)
    trial("8 uploads in the first 2 s after a download, of the path", statistics.fmean(first), "×")
    # The download needs four to fill the path from its ten segments: it cannot be noticed sooner.
    trial("8 uploads give way to a download, round trips", statistics.median(trips), "RTT", most=15)


def _first_segments(packets: Sequence[Packet]) -> list[float]:
    """When each connection's first segment with data arrived."""
    first: dict[int, float] = {}
    for packet in packets:
        first.setdefault(packet.port, packet.seconds)
    return sorted(first.values())


def _given_way(uploads: Sequence[Packet], begin: float) -> float:
    """Seconds until a window has a fifth of the path of the uploads; infinity if none has within three seconds."""
    near = [packet for packet in uploads if begin - _WINDOW < packet.seconds < begin + 3]
    steps = (begin + _WINDOW + step * _RTT / 4 for step in range(int(3 / (_RTT / 4))))

    def rate(end: float) -> float:
        return 8 * sum(packet.payload for packet in near if end - _WINDOW < packet.seconds <= end) / _WINDOW

    return next((end - begin for end in steps if rate(end) <= RATE / 5), math.inf)


def test_a_stopped_foreground_leaves_the_link(trial: Trial) -> None:
    def work(day: Day) -> tuple[float, float]:
        documents = day.arriving_downloads()
        with documents, day.arriving_uploads() as arrived, day.download() as download, day.uploads(4, "netnice"):
            time.sleep(5)
            download.signal(signal.SIGSTOP)
            stopped = time.monotonic()
            # The kernel goes on receiving for a stopped program until its buffer is full: the traffic ends then.
            wait_until(lambda: documents.total_at(time.monotonic() - 1) == documents.totals[-1], "its end", seconds=15)
            end = documents.times[documents.totals.index(documents.totals[-1])]
            time.sleep(6.5 - (time.monotonic() - end))
            return end - stopped, arrived.rate(end + 2, end + 6.4) / RATE

    drained, after = trial.on_a_path(work)
    assert after > 0.4
    trial("uploads beside a stopped download, from 2 s after its end, of the path", after, "×", least=0.8)
    trial("a stopped download's traffic ends after", drained, "s", most=5)


def test_two_percent_loss_is_no_standstill(trial: Trial) -> None:
    def work(day: Day) -> list[float]:
        found = []
        for words in (("netnice",), ()):
            with day.arriving_uploads() as arrived, day.uploads(1, *words):
                time.sleep(8)
                now = time.monotonic()
                found.append(arrived.rate(now - 7, now - 0.2))
        return found

    nice, cubic = trial.on_a_path(work, loss="2%")
    assert nice > 0.05e6
    trial("an upload where 2 % are lost", nice / 1e6, "Mbit/s", least=0.25)
    trial("the same by CUBIC", cubic / 1e6, "Mbit/s")


def test_a_switch_of_levels_keeps_the_base_rtt(trial: Trial) -> None:
    """The queue never empties, so an upload that forgot the base takes the queue for the path, and its share of it."""

    def work(day: Day) -> tuple[float, float, set[str]]:
        with day.arriving_uploads() as uploads, day.uploads(1, "netnice") as (upload,):
            time.sleep(3)
            alone = uploads.rate(time.monotonic() - 1.5, time.monotonic())
            with day.download(), day.download():
                time.sleep(3)
                for level in ("1", "0"):
                    call("netnice", "-n", level, "-p", str(upload.pid))
                start = time.monotonic()
                time.sleep(6)
                return alone, uploads.rate(start, start + 5.9), day.upload_congestion_controls()

    alone, beside, found = trial.on_a_path(work, queue="4bdp")
    assert found == {"netnice"}
    assert alone > RATE / 4
    assert beside < 0.15 * RATE
    trial("an upload that changed its level beside two downloads, of the path", beside / RATE, "×", most=0.01)


#: The kernel's own control against one that yields: seen, .98 to 1.00. Two that yield, or two that do not, have a half.
_MOST = 0.85


def test_a_download_that_yields_in_sending_only_is_a_plain_one(trial: Trial) -> None:
    with (
        downloads() as net,
        net.start(net.web, "netnice", "--send-only"),
        net.start(net.other, "netnice", "--receive-only"),
    ):
        time.sleep(3)
        share, wide, narrow = net.share(4), net.window(net.web), net.window(net.other)
        found = [
            one.congestion_control
            for server in (net.web, net.other)
            for one in sockets(net.home, peer_port=server.port)
        ]
    trial.judge(net.path)
    assert found == ["netnice", "cubic"], "what a download sends are its acknowledgements"
    assert wide > 4 * narrow
    assert share > 0.65
    trial("a --send-only download beside a --receive-only one, of both", share, "×", least=_MOST)


def test_an_upload_that_yields_in_receiving_only_is_a_plain_one(trial: Trial) -> None:
    def work(day: Day) -> dict[str, float]:
        with day.uploads(1, "netnice", "--receive-only"), day.uploads(1, "netnice", "--send-only"):
            begun(day, 2)
            time.sleep(2)
            before = day.sent()
            time.sleep(4)
            return {name: acked - before[name] for name, acked in day.sent().items()}

    sent = trial.on_a_path(work)
    assert sorted(sent) == ["cubic", "netnice"]
    share = sent["cubic"] / sum(sent.values())
    assert share > 0.65
    trial("a --receive-only upload beside a --send-only one, of both", share, "×", least=_MOST)


def test_a_bare_cable_is_half_as_fast_as_with_cubic(trial: Trial) -> None:
    def goodput(a: Namespace, b: Namespace, *words: str) -> tuple[float, set[str]]:
        with (
            Nginx(a, {"long": 1 << 38}, under=words) as web,
            ByteCounter(b, peer_port=web.port, interval=0.1) as arrived,
            b.spawn("curl", "-sf", "-o", "/dev/null", web.url("long")),
        ):
            time.sleep(1)
            start = time.monotonic()
            time.sleep(3)
            found = {s.congestion_control for s in sockets(a, local_port=web.port)}
            return arrived.rate(start, start + 2.8), found

    with contextlib.ExitStack() as stack:
        a, b = (stack.enter_context(Namespace(name)) for name in "ab")
        stack.enter_context(Veth(a, b))
        cubic, _ = goodput(a, b)
        nice, found = goodput(a, b, "netnice")
    assert found == {"netnice"}
    assert nice > cubic / 20
    trial("an upload on a bare cable, of CUBIC's rate", nice / cubic, "×", least=0.5)
