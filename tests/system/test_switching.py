# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A download that runs becomes background, and MPTCP is as TCP: on 10 Mbit/s and 40 ms, beside another download."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from system.harness.commands import end, netnice, receiver
from system.harness.path import RATE, Trial
from testbed import Namespace, Path, Process, sockets

pytestmark = pytest.mark.verify("real traffic for 10 s to 20 s each")
RTT = 0.04
LOOKS = 0.2  # s


@dataclass(frozen=True)
class Beside:
    """One download, and another that begins 2 s later."""

    www: Namespace
    home: Namespace
    download: Process
    ports: tuple[int, int]

    def received(self) -> tuple[int, int]:
        """Bytes of both."""
        first, second = (sum(s.bytes_received for s in sockets(self.home, peer_port=port)) for port in self.ports)
        return first, second

    def rates(self, seconds: float) -> tuple[float, float]:
        """Bits a second of both, from now on."""
        before, begun = self.received(), time.monotonic()
        time.sleep(seconds)
        after, lasted = self.received(), time.monotonic() - begun
        first, second = (8 * (b - a) / lasted for a, b in zip(before, after, strict=True))
        return first, second


@contextmanager
def beside(trial: Trial, control: str, *words: str, protocol: str = "tcp") -> Iterator[Beside]:
    """The first is run by ``words``; the servers send by a congestion control."""
    with (
        Namespace("www") as www,
        Namespace("home") as home,
        Path(www, home, rate="10mbit", rtt="40ms") as path,
    ):
        ports = []
        for kind in (protocol, "tcp"):
            server = www.spawn(*end("pour", control, kind), stdout=subprocess.PIPE)
            ports.append(int(server.line()))
        first, second = (str(port) for port in ports)
        download = home.spawn(*words, *end("drain", www.address, first, protocol))
        time.sleep(2)
        home.spawn(*end("drain", www.address, second))
        yield Beside(www, home, download, (ports[0], ports[1]))
    trial.judge(path)


@pytest.mark.parametrize("control", ["cubic", "bbr"])
@pytest.mark.parametrize("run", [1, 2, 3])
def test_a_running_download_begins_to_yield(trial: Trial, control: str, run: int) -> None:
    """What was granted cannot be taken back, and comes at the download's own rate; the bar is by the line's."""
    with beside(trial, control) as both:
        time.sleep(6)
        (sender,) = (one for one in sockets(both.www, local_port=both.ports[0]) if one.state == "ESTAB")
        granted, begun = sender.number("snd_wnd"), time.monotonic()
        netnice("-n", "0", "-p", str(both.download.pid))
        while both.rates(LOOKS)[0] >= RATE / 10:
            assert time.monotonic() - begun < 20, "it does not yield"
        took = time.monotonic() - begun
    bar = 8 * granted / RATE + 10 * RTT
    says = f"-p on a download from a {control} server, run {run}"
    trial(f"{says}, until it has a tenth", took, "s")
    trial(f"{says}, of what was granted at the line's rate, and 10 RTT", took / bar, "x", most=1)


@pytest.mark.parametrize("when", ["from the start", "by -p"])
def test_an_mptcp_download_yields(trial: Trial, when: str) -> None:
    with beside(trial, "cubic", *(["netnice"] if when == "from the start" else []), protocol="mptcp") as both:
        time.sleep(2)
        if when == "by -p":
            netnice("-n", "0", "-p", str(both.download.pid))
            time.sleep(3)
        first, second = both.rates(10)
    assert receiver()["segments"] > 100
    trial(f"CUBIC beside an MPTCP download in the background {when}", second / 1e6, "Mbit/s", least=0.9 * 9.5)
    trial(f"an MPTCP download in the background {when}", first / 1e6, "Mbit/s")
