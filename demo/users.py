# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A household's programs: ``python -m demo.users call|answer|pages|video``, and how a scene starts them.

A call sends a packet each 20 ms and the other end sends each back, so both directions carry 50 a second. A packet's
latency is its way there and back; one that took over a second counts as lost, no call would still play it.

Pages are opened at Poisson times. A fresh curl gets the first URL, the page itself, and then all others, six at a time
over connections that it keeps. A page's time is from its wish to its last byte.

A video adapts its rate as players do by default. The next segment has the highest rate below four fifths of the rate of
the last ones. It is requested when the buffer holds less than a number of seconds. The buffer plays on meanwhile, and
when it is empty, the video stalls.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import selectors
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testbed import Namespace, Process, TestbedError

_TOO_LATE_S = 1.0
_HEADER = struct.Struct("!Q")
_CURL = ("curl", "--silent", "--fail", "--max-time", "20")
_CAUTION = 0.8
_NEWEST = 0.5
_TIMEOUT_S = 30.0


def user(namespace: Namespace, name: str, *words: object) -> Process:
    """Starts one of them, which prints at its end what it saw."""
    argv = [sys.executable, "-m", "demo.users", name, *map(str, words)]
    return namespace.spawn(*argv, cwd=Path(__file__).resolve().parents[1], stdout=subprocess.PIPE)


def said(process: Process, timeout: float) -> dict[str, Any]:
    """What it saw; TimeoutExpired if it has not ended by then."""
    out, err = process.wait(timeout)
    if process.returncode != 0:
        raise TestbedError(f"a program of the household failed: {err.strip()}")
    return dict(json.loads(out))


def answer(port: int) -> None:
    """Says that it is ready, and sends back what comes until it is ended."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("", port))
        print("ready", flush=True)
        while True:
            packet, peer = line.recvfrom(2048)
            line.sendto(packet, peer)


def call(address: str, port: int, *, seconds: float, warmup: float, per_s: int, size: int) -> dict[str, object]:
    """Latencies in ms of the packets sent after ``warmup``, and how many were lost."""
    total = int((warmup + seconds) * per_s)
    first = int(warmup * per_s)
    sent: list[float] = []
    took: dict[int, float] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line, selectors.DefaultSelector() as selector:
        line.connect((address, port))
        line.setblocking(False)
        selector.register(line, selectors.EVENT_READ)
        begin = time.monotonic()
        while True:
            now = time.monotonic()
            due = begin + len(sent) / per_s
            if len(sent) < total and now >= due:
                sent.append(now)
                line.send(_HEADER.pack(len(sent) - 1).ljust(size, b"\0"))
                continue
            if len(sent) == total and now > sent[-1] + _TOO_LATE_S:
                break
            wait = due - now if len(sent) < total else sent[-1] + _TOO_LATE_S - now
            if not selector.select(max(wait, 0)):
                continue
            (number,) = _HEADER.unpack_from(line.recv(2048))
            took[number] = time.monotonic() - sent[number]
    arrived = [took[n] for n in range(first, total) if took.get(n, _TOO_LATE_S) < _TOO_LATE_S]
    return {"sent": total - first, "lost": total - first - len(arrived), "ms": [round(t * 1e3, 3) for t in arrived]}


def page(urls: list[str]) -> float | None:
    """Seconds that one page takes; None: something of it did not come in time."""
    begin = time.monotonic()
    others = [word for url in urls[1:] for word in (url, "--output", "/dev/null")]
    for words in ([urls[0], "--output", "/dev/null"], ["--parallel", "--parallel-max", "6", *others]):
        if subprocess.run([*_CURL, *words], check=False, stdout=subprocess.DEVNULL).returncode != 0:
            return None
    return time.monotonic() - begin


def moments(seed: int, every_s: float, until_s: float) -> list[float]:
    """When pages are wanted: the same for the same seed."""
    chance = random.Random(seed)
    wanted, now = [], chance.expovariate(1 / every_s)
    while now < until_s:
        wanted.append(now)
        now += chance.expovariate(1 / every_s)
    return wanted


def browse(urls: list[str], *, seconds: float, warmup: float, every_s: float, seed: int) -> dict[str, object]:
    """Milliseconds of each page that was wanted after ``warmup``, and how many never came."""
    begin = time.monotonic()
    took: list[float | None] = []
    readers = []
    for moment in moments(seed, every_s, warmup + seconds):
        time.sleep(max(begin + moment - time.monotonic(), 0))
        counts = moment >= warmup

        def read(counts: bool = counts) -> None:
            seconds_taken = page(urls)
            if counts:
                took.append(seconds_taken)

        readers.append(threading.Thread(target=read))
        readers[-1].start()
    for reader in readers:
        reader.join()
    return {"ms": [round(t * 1e3, 1) for t in took if t is not None], "failed": took.count(None)}


@dataclass
class Playback:
    """What is ahead of the viewer, and how long they waited."""

    ahead_s: float = 0.0
    stalled_s: float = 0.0
    stalls: int = 0
    playing: bool = False
    rates: list[int] = field(default_factory=list)

    def pass_time(self, seconds: float, *, counts: bool) -> None:
        """Plays for so long, as far as there is something to play."""
        if not self.playing:
            return
        missing = seconds - self.ahead_s
        self.ahead_s = max(self.ahead_s - seconds, 0.0)
        if missing > 0 and counts:
            self.stalled_s += missing
            self.stalls += 1

    def add(self, seconds: float, rate_bps: int, *, counts: bool) -> None:
        """A segment came."""
        self.ahead_s += seconds
        self.playing = True
        if counts:
            self.rates.append(rate_bps)


def choose(ladder: Sequence[int], seen_bps: float) -> int:
    """The highest rate that leaves a margin, or the lowest there is."""
    return max((rate for rate in ladder if rate <= seen_bps * _CAUTION), default=min(ladder))


def watch(
    url: str, *, seconds: float, warmup: float, segment_s: float, ahead_s: float, ladder: list[int]
) -> dict[str, object]:
    """Stalls and rates of the time after ``warmup``."""
    playback = Playback()
    begin = last = time.monotonic()
    seen_bps = 0.0
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=_TIMEOUT_S)
    while last < begin + warmup + seconds:
        counts = last >= begin + warmup
        full = playback.ahead_s + segment_s - ahead_s
        rate = choose(ladder, seen_bps)
        if full > 0:
            time.sleep(full)
        else:
            got_bps = fetch(connection, address.path, int(rate * segment_s / 8))
            seen_bps = got_bps if not seen_bps else seen_bps + (got_bps - seen_bps) * _NEWEST
        now = time.monotonic()
        playback.pass_time(now - last, counts=counts)
        last = now
        if full <= 0:
            playback.add(segment_s, rate, counts=counts)
    connection.close()
    mean = sum(playback.rates) / len(playback.rates) if playback.rates else 0.0
    return {"stalled_s": round(playback.stalled_s, 3), "stalls": playback.stalls, "rate_bps": round(mean)}


def fetch(connection: http.client.HTTPConnection, path: str, size: int) -> float:
    """Gets so many bytes; returns how many bits came a second."""
    asked = time.monotonic()
    connection.request("GET", path, headers={"Range": f"bytes=0-{size - 1}"})
    read = len(connection.getresponse().read())
    return read * 8 / (time.monotonic() - asked)


def main() -> None:
    """Runs one, and prints what it saw."""
    parser = argparse.ArgumentParser(prog="python -m demo.users", description="A call, pages and a video, as programs.")
    programs = parser.add_subparsers(required=True)

    def add(name: str, work: Callable[..., dict[str, object] | None]) -> argparse.ArgumentParser:
        one = programs.add_parser(name)
        one.set_defaults(work=work)
        if work is not answer:
            one.add_argument("--seconds", type=float, required=True)
            one.add_argument("--warmup", type=float, default=0.0)
        return one

    add("answer", answer).add_argument("port", type=int)
    calling = add("call", call)
    calling.add_argument("address")
    calling.add_argument("port", type=int)
    calling.add_argument("--per-s", type=int, default=50)
    calling.add_argument("--size", type=int, default=172)
    browsing = add("pages", browse)
    browsing.add_argument("urls", nargs="+")
    browsing.add_argument("--every", dest="every_s", type=float, default=3.0)
    browsing.add_argument("--seed", type=int, default=1)
    watching = add("video", watch)
    watching.add_argument("url")
    watching.add_argument("--segment", dest="segment_s", type=float, default=4.0)
    watching.add_argument("--ahead", dest="ahead_s", type=float, default=12.0)
    watching.add_argument("--ladder", type=int, nargs="+", required=True)
    options = vars(parser.parse_args())
    seen = options.pop("work")(**options)
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
