# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Real programs download under netnice from servers that know nothing of it, and what that costs documents beside them.

Twelve clients at home fetch documents, 2.5 Mbit/s of at most 128 KiB each, over 10 Mbit/s and 40 ms. They are few
enough that the same ones, alone, take as long each time, within 5 % for most. In one round there are two windows
without a download, two beside netnice and one beside the program as it is. All have the same documents and server
settings; the documents are sent with those settings, too. Three rounds gave 1.10 to 1.18 in the mean, single ones 1.07
to 1.42 (docs/research/downloads.md). Beside the program as it is they took 1.4 to 2.5, with BBR 5 to 9.

The browser is NetSurf: 12 MB with what it needs, where Chromium's headless shell has 306.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from system.harness.commands import receiver
from system.harness.fetchers import Client, apt, curl, git, netsurf, pip
from system.harness.path import LARGEST, RATE, Trial, Window, documents
from testbed import ByteCounter, Namespace, Nginx, Path, sockets
from testbed.namespace import wait_until

pytestmark = pytest.mark.verify("real traffic for 5 s to 20 s each")
SECONDS = 3.0  # of a window
#: How often all is done, each time with other documents: once here, three times for docs/research/downloads.md, whose
#: table is of all programs.
ROUNDS = int(os.environ.get("NETNICE_ROUNDS", "1"))
SETTLE = 2.0  # s from a program's start
#: Least part of what the documents leave, by sender. Why so little without timestamps: docs/research/downloads.md.
SENDERS = {"cubic": 0.3, "bbr": 0.3, "no timestamps": 0.02}
#: Bytes: at 10 Mbit/s half a minute.
SIZE = 40 << 20

FETCHERS = {"curl": curl, "apt": apt, "pip": pip, "git": git, "netsurf": netsurf}
OTHERS = [name for name in FETCHERS if name != "curl"]
CASES = [*(("curl", sender) for sender in SENDERS), *((name, "cubic") for name in OTHERS if ROUNDS > 1)]


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
    def share(self) -> float:
        """What the download gets of what the documents leave."""
        left = RATE - statistics.fmean(window.goodput_bps for window in self.all)
        return statistics.fmean(window.beside_bps for window in self.all) / left


@dataclass(frozen=True)
class Home:
    """The network: servers of one setting on one side, documents and programs on the other."""

    www: Namespace
    home: Namespace
    path: Path
    web: Nginx

    def alone(self, seed: int, to: Windows) -> None:
        """Documents and nothing else."""
        to.all.append(documents(self.home, self.web, seed, SECONDS))

    def beside(self, fetcher: Client, seeds: Sequence[int], to: Windows, *words: str) -> None:
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
def network(sender: str) -> Iterator[Home]:
    """A path from servers that send by ``sender``."""
    with (
        Namespace("www", congestion_control="bbr" if sender == "bbr" else "cubic") as www,
        Namespace("home") as home,
        Path(www, home, rate="10mbit", rtt="40ms") as path,
    ):
        www.sysctl("net.ipv4.tcp_timestamps", "0" if sender == "no timestamps" else "1")
        with Nginx(www, {"documents": LARGEST}) as web:
            yield Home(www, home, path, web)


@pytest.mark.timeout(300 + 60 * ROUNDS)
@pytest.mark.parametrize(("name", "sender"), CASES)
def test_documents_beside_a_download(trial: Trial, name: str, sender: str) -> None:
    alone, first, netnice, plain = Windows(), Windows(), Windows(), Windows()
    with network(sender) as day, FETCHERS[name](day.www, SIZE) as fetcher:
        for seed in range(2, 2 * ROUNDS + 2, 2):
            day.alone(seed, first)
            day.beside(fetcher, [seed, seed + 1], netnice, "netnice")
            day.alone(seed + 1, alone)
            day.beside(fetcher, [seed], plain)
    trial.judge(day.path)
    alone.all += first.all
    slower, without = netnice.milliseconds / alone.milliseconds, plain.milliseconds / first.milliseconds
    seen = receiver()
    assert netnice.senders == plain.senders == {"bbr" if sender == "bbr" else "cubic"}
    assert seen["segments"] > 100, "or its receiver saw nothing of it"
    assert (seen["unstamped"] > seen["segments"] / 2) == (sender == "no timestamps")
    assert slower < without, "documents beside netnice lose less"
    assert netnice.share > SENDERS[sender] / 10
    trial(f"documents beside netnice {name} from {sender}, against alone", slower, "×", most=1.10)
    trial(f"what they lose, of that beside {name} from {sender}", (slower - 1) / (without - 1), "×", most=0.6)
    trial(f"netnice {name} from {sender}, of what the documents leave", netnice.share, "×", least=SENDERS[sender])
    trial(
        f"documents unfinished beside netnice {name} from {sender}", sum(w.unfinished for w in netnice.all), "", most=0
    )


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", OTHERS)
def test_other_programs_receive_as_curl_does(name: str) -> None:
    """A window of the path, where that of the program as it is grows to the kernel's buffers."""
    with network("cubic") as day, FETCHERS[name](day.www, SIZE) as fetcher:

        def windows() -> list[float]:
            return [one.number("rcv_ssthresh") for one in sockets(day.home, peer_port=fetcher.port)]

        def received() -> int:
            return max((one.bytes_received for one in sockets(day.home, peer_port=fetcher.port)), default=0)

        found = []
        for words in (("netnice",), ()):
            with fetcher.start(day.home, *words) as process:
                wait_until(lambda: received() > 3_000_000, "the download", process=process, seconds=30)
                found.append(max(windows()))
            if words:
                assert receiver()["segments"] > 1000
    narrow, wide = found
    assert narrow < wide / 2
