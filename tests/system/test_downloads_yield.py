# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Real programs download under netnice from servers that know nothing of it: what that costs documents beside them.

Twelve clients at home fetch documents, 2.5 Mbit/s of at most 128 KiB each, over 10 Mbit/s and 40 ms: few enough that
the same ones, alone, take as long each time, within 5 % for most. (Of 5 Mbit/s of up to 1 MiB the same three seconds
had means of 120 to 199 ms.) In one run there are two windows without a download, two beside netnice and one beside the
program as it is, all with the same documents and server settings; by those settings the documents are sent, too.

The goal is 1.10 in the mean, a known miss: three rounds gave 1.10 to 1.18 (docs/downloads.md), single rounds 1.07 to
1.42. What is held: MOST is what no program may reach, TOGETHER what the mean of all may not (1.15 to
1.23 were seen), and beside the program as it is documents must lose much more, REST: seen, 1.4 to 2.5, of BBR 5 to 9.

The browser is NetSurf: 12 MB with what it needs. Chromium's headless shell has 306, and is tested where it is there.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from known_miss import KnownMiss
from system.harness.commands import Run
from system.harness.days import RATE_BPS, say, until_trusted
from system.harness.documents import LARGEST, Window, documents
from system.harness.fetchers import FETCHERS, Fetcher
from testbed import ByteCounter, Namespace, Nginx, Path, sockets

SECONDS = 3.0  # of a window
#: How often everything is done, each time with other documents: 2 here, 3 for the table of docs/downloads.md.
ROUNDS = int(os.environ.get("NETNICE_ROUNDS", "2"))
SETTLE = 2.0  # seconds from a program's start
GOAL, MOST, TOGETHER = 1.10, 1.40, 1.25
#: Of the slowdown without netnice.
REST = 0.6
#: Least part of what the documents leave, by sender. Why so little without timestamps: docs/downloads.md.
SENDERS = {"cubic": 0.3, "bbr": 0.3, "no timestamps": 0.02}
CASES = [*((program, "cubic") for program in FETCHERS), ("curl", "bbr"), ("curl", "no timestamps")]


@dataclass
class Windows:
    """Those beside one thing, and what the kernel's tables say that the download is sent by."""

    all: list[Window] = field(default_factory=list)
    senders: set[str] = field(default_factory=set)

    @property
    def milliseconds(self) -> float:
        """A document's latency."""
        return statistics.fmean(latency for window in self.all for latency in window.latencies)

    @property
    def goodput(self) -> float:
        """Of the download, bits a second."""
        return statistics.fmean(window.beside_bps for window in self.all)

    @property
    def share(self) -> float:
        """What the download gets of what the documents leave."""
        return self.goodput / (RATE_BPS - statistics.fmean(window.goodput_bps for window in self.all))


@dataclass(frozen=True)
class Home:
    """The network: servers of one setting on one side, documents and programs on the other."""

    www: Namespace
    home: Namespace
    web: Nginx

    def alone(self, seed: int, to: Windows) -> None:
        """Documents and nothing else."""
        to.all.append(documents(self.home, self.web, seed, SECONDS))

    def beside(self, fetcher: Fetcher, seeds: Sequence[int], to: Windows, *words: str) -> None:
        """Documents beside a program that ``words`` run."""
        with (
            ByteCounter(self.home, peer_port=fetcher.port, interval=0.1) as counter,
            fetcher.start(self.home, *words) as process,
        ):
            time.sleep(SETTLE)
            to.all += [documents(self.home, self.web, seed, SECONDS, counter) for seed in seeds]
            to.senders |= {socket.congestion_control for socket in sockets(self.www, local_port=fetcher.port)}
            assert process.running(), f"{fetcher.argv} ended before its time: {process.wait()}"


@contextlib.contextmanager
def network(sender: str) -> Iterator[tuple[Path, Home]]:
    """A path from servers that send by ``sender``."""
    with (
        Namespace("www", congestion_control="bbr" if sender == "bbr" else "cubic") as www,
        Namespace("home") as home,
        Path(www, home, rate="10mbit", rtt="40ms") as path,
    ):
        www.sysctl("net.ipv4.tcp_timestamps", "0" if sender == "no timestamps" else "1")
        with Nginx(www, {"documents": LARGEST}) as web:
            yield path, Home(www, home, web)


@pytest.fixture(scope="module")
def ratios() -> list[float]:
    """What each program made of the documents' latency."""
    return []


@pytest.mark.timeout(300 + 60 * ROUNDS)
@pytest.mark.parametrize(("program", "sender"), CASES)
def test_documents_beside_a_download(
    up: dict[int, str],
    netnicectl: Run,
    capsys: pytest.CaptureFixture[str],
    ratios: list[float],
    program: str,
    sender: str,
) -> None:
    def run() -> tuple[Path, tuple[Windows, Windows, Windows, Windows]]:
        alone, first, netnice, plain = Windows(), Windows(), Windows(), Windows()
        with network(sender) as (path, day), FETCHERS[program](day.www) as fetcher:
            for seed in range(2, 2 * ROUNDS + 2, 2):
                day.alone(seed, first)
                day.beside(fetcher, [seed, seed + 1], netnice, "netnice")
                day.alone(seed + 1, alone)
                day.beside(fetcher, [seed], plain)
        alone.all += first.all
        return path, (alone, first, netnice, plain)

    alone, first, netnice, plain = until_trusted(run)
    slower, without = netnice.milliseconds / alone.milliseconds, plain.milliseconds / first.milliseconds
    say(
        capsys,
        f"{program}, {sender}: documents {alone.milliseconds:.0f} ms alone, x {slower:.2f} beside netnice {program}, "
        f"x {without:.2f} beside {program}; netnice {program} {netnice.goodput / 1e6:.2f} Mbit/s, "
        f"{netnice.share:.0%} of the spare",
    )
    ratios.append(slower)
    assert netnice.senders == plain.senders == {"bbr" if sender == "bbr" else "cubic"}
    seen = json.loads(netnicectl("status", "--json").stdout)["receiver"]["counters"]
    assert seen["segments"] > 100, "or its receiver saw nothing of it"
    assert (seen["unstamped"] > seen["segments"] / 2) == (sender == "no timestamps")
    assert not any(window.unfinished for window in alone.all + netnice.all)
    assert slower < MOST
    assert slower - 1 < REST * (without - 1)
    assert netnice.share > SENDERS[sender]


def test_documents_beside_any_of_them(ratios: list[float]) -> None:
    assert len(ratios) >= len(CASES), "it sums up the tests above: run them, too"
    assert statistics.fmean(ratios) < TOGETHER


def test_documents_beside_any_of_them_are_a_tenth_slower(ratios: list[float], known_miss: KnownMiss) -> None:
    known_miss(
        "documents beside a netnice download take × as long as alone",
        measured=statistics.fmean(ratios),
        most=GOAL,
        noise=0.05,
        reason="TIDE tolerates 4 ms of queue, in which a document waits several times: docs/downloads.md",
    )
