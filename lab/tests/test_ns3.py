# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The ns-3 program: the shim gives the core what it needs; and a cross-check that disagrees says so."""

import copy
from pathlib import Path

import pytest

from netnice_lab import places
from netnice_lab.comparison import crosscheck, ns3
from netnice_lab.engine import machine
from netnice_lab.errors import LabError
from netnice_lab.measures import results
from netnice_lab.model.scenario import Run, Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk, Document, Documents

pytestmark = pytest.mark.verify("compiled with g++ against ns-3, which the quick tier's packages do not have")

RATE, RTT, PACKETS = 4_000_000, 100_000, 98
PACKET, PAYLOAD, FRAME = 512, 460, 526
LINK = RATE * PAYLOAD / FRAME / 1e6
"""Mbit/s of payload that the link carries."""
BDP = RATE * RTT / 1e6 / 8 / FRAME


def rendered(*traffic: Bulk | Documents, queue: str = "fifo", **parameters: int) -> Run:
    topology = dumbbell(RATE, RTT, Queue(queue, packets=PACKETS), mtu=PACKET, foreground_window=2)
    row = (("netnice", tuple(parameters.items())),) if parameters else ()
    return ns3.render(Scenario(topology, traffic, 20.0, 5.0, 1, row))


def test_the_core_fills_an_empty_path_and_holds_its_window(no_kept_results: Path) -> None:
    run = rendered(Bulk("bulk", "home", 2, "netnice"))
    metrics = results.metrics(run, ns3.execute(run))
    assert 0.85 * LINK < metrics["background"] <= LINK
    assert 0.5 * BDP < 2 * metrics["window"] < 1.5 * BDP
    assert metrics["background_rtt"] < 1.5 * RTT / 1e3


@pytest.mark.parametrize("window", [0.25, 0.5, 1.0, 4.0])
def test_a_held_window_sends_just_that_and_never_times_out(no_kept_results: Path, window: float) -> None:
    run = rendered(Bulk("bulk", "home", 1, "netnice"), force_window=round(window * 4096))
    metrics = results.metrics(run, ns3.execute(run))
    assert metrics["background"] == pytest.approx(window * PAYLOAD * 8 / RTT, rel=0.1)
    assert metrics["background_retransmits"] == 0


def test_the_same_run_gives_the_same_bytes(no_kept_results: Path) -> None:
    documents = tuple(Document(0.2 * i, 3000 * i, i % 3) for i in range(1, 60))
    run = rendered(Documents("www", "home", documents, "reno"), Bulk("bulk", "home", 4, "netnice"))
    first, second = (ns3.execute(run, fresh=True) for _ in range(2))
    assert first.digest == second.digest
    assert results.metrics(run, first)["unfinished"] == 0


def test_the_priority_queue_serves_documents_first(no_kept_results: Path) -> None:
    traffic = (
        Documents("www", "home", tuple(Document(6 + i, 10_000, 1) for i in range(10)), "reno"),
        Bulk("bulk", "home", 4, "reno"),
    )
    served, queued = (rendered(*traffic, queue=kind) for kind in ("priority", "fifo"))
    fast, slow = (results.metrics(run, ns3.execute(run))["latency"] for run in (served, queued))
    assert 1.3 * fast < slow


def test_a_missing_library_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "cache", lambda: tmp_path)
    monkeypatch.setattr(ns3, "HEADER", "ns3-of-nowhere/internet-module.h")
    with pytest.raises(LabError, match=r"ns-3 is not installed(.|\n)*sudo apt-get install libns3-dev"):
        ns3.build()
    monkeypatch.setattr("shutil.which", lambda tool: None if tool == "g++" else f"/usr/bin/{tool}")
    with pytest.raises(LabError, match=r"no g\+\+(.|\n)*apt-get install g\+\+"):
        ns3.build()


def test_what_ns3_cannot_play_is_refused(no_kept_results: Path) -> None:
    with pytest.raises(LabError, match=r"ns-3 failed(.|\n)*cannot play 'bulk 0"):
        ns3.execute(rendered(Bulk("bulk", "home", 1, "netnice", stop=9.0)))
    with pytest.raises(LabError, match=r"ns-3 failed(.|\n)*no congestion control 'bbr'"):
        ns3.execute(rendered(Bulk("bulk", "home", 1, "bbr")))
    with pytest.raises(LabError, match="no fq_codel queue"):
        rendered(Bulk("bulk", "home", 1, "netnice"), queue="fq_codel")


def table() -> crosscheck.Means:
    cell = {("none", 1): {"latency": 400.0, "background": 0.0, "ratio": 1.0}}
    for protocol, ratio, background in (("priority", 1.0, 1.6), ("nice-0.1", 1.1, 0.8), ("reno", 3.0, 1.5)):
        cell[protocol, 16] = {"latency": 400 * ratio, "ratio": ratio, "background": background}
    return cell


def test_agreement_and_disagreement(capsys: pytest.CaptureFixture[str]) -> None:
    lab = table()
    assert crosscheck.report(lab, table()) == 0
    worse, swapped = copy.deepcopy(lab), copy.deepcopy(lab)
    worse["nice-0.1", 16]["ratio"] = 1.2
    assert crosscheck.report(lab, worse) == 1
    assert "FAILED nice-0.1, 16 flows: latency / none" in capsys.readouterr().out
    # each within its bound, but Reno now takes more than priority queueing leaves
    swapped["priority", 16]["background"], swapped["reno", 16]["background"] = 1.5, 1.6
    assert crosscheck.report(lab, swapped) == 1
    assert "FAILED order: priority and reno, 16 flows" in capsys.readouterr().out


def test_results_are_kept(no_kept_results: Path) -> None:
    run = rendered(Bulk("bulk", "home", 1, "netnice"))
    first = ns3.execute(run)
    assert machine.load(ns3.key(run)) == ns3.execute(run) == first
