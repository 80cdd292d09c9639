# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Guests with unusual networks: what is given as data is what the packets meet."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.frontier import today
from experiments.tcp_nice.section4 import PACKET, paper
from netnice_lab.engine import machine
from netnice_lab.engine.programs import Programs
from netnice_lab.measures import results
from netnice_lab.model.output import Output
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import ETHERNET, Link, Pipe, Queue, Topology
from netnice_lab.model.traffic import Bulk, Change, Document, Documents, OnOff


def measure(scenario: Scenario, built: Programs) -> tuple[results.Metrics, Output]:
    run = scenario.render()
    output = machine.execute(run)
    return results.metrics(run, output), output


def test_delays_add_up_along_two_routers(built: Programs, no_kept_results: Path) -> None:
    slow = Pipe(5_000_000, Queue("fifo", bytes=20_000), delay=30_000)
    topology = Topology(
        ("a", "b"),
        ("r", "s"),
        (Link("a", "r", back=Pipe(delay=5_000)), Link("r", "s", slow, Pipe(delay=10_000)), Link("s", "b")),
    )
    scenario = Scenario(topology, (Bulk("a", "b", 1, "vegas"),), 10.0, 2.0, 1)
    _, output = measure(scenario, built)
    lowest = results.table(output, "flows.csv").min_rtt_us.min()
    assert 45_000 <= lowest < 49_000


def test_samples_show_queue_and_window_over_time(built: Programs, no_kept_results: Path) -> None:
    scenario = replace(paper("netnice", duration=40.0), sample=0.5)
    metrics, output = measure(scenario, built)
    tables = results.samples(output)
    assert len(tables["queue"]) == pytest.approx(80, abs=2)
    assert 0 < metrics["queue"] < metrics["queue_p95"] <= 98 * 526
    windows = tables["flow"].window / 65536
    assert 1 / 50 < windows.min() < 1 < windows.max(), "W falls below one segment, and is seen to"


def test_a_rate_can_change_while_a_run_goes_on(built: Programs, no_kept_results: Path) -> None:
    usual = today("none", rate=10.0)
    slower = "qdisc change dev router-2 root handle 1: tbf rate 2000000bit burst 1600 limit 100000000"
    flows = (Bulk("bulk", "home", 1, "cubic"),)
    scenario = replace(usual, traffic=(*flows, Change(20.0, "router", slower)), duration=40.0, warm_up=25.0)
    metrics, _ = measure(scenario, built)
    assert metrics["background"] == pytest.approx(1.91, rel=0.03)


def test_loss_is_what_the_link_says(built: Programs, no_kept_results: Path) -> None:
    lossy = Pipe(5_000_000, Queue("fifo", bytes=50_000), loss=0.05)
    topology = Topology(("a", "b"), ("r",), (Link("a", "r"), Link("r", "b", forward=lossy)))
    source = OnOff("a", "b", 4, 400_000, packet=500)
    metrics, _ = measure(Scenario(topology, (source,), 30.0, 1.0, 1), built)
    assert metrics["udp_loss"] == pytest.approx(0.05, abs=0.01)


def test_under_priority_a_document_waits_for_one_packet_at_most(built: Programs, no_kept_results: Path) -> None:
    """Of two segments, which leave at once; the packet that is on the line when they come cannot be taken back."""
    asked = tuple(Document(at=10.0 + 0.777 * number, size=800, client=number) for number in range(20))
    documents = Documents("www", "home", asked, "reno")
    usual = paper("priority", duration=30.0)
    (flows,) = (one for one in usual.traffic if isinstance(one, Bulk))
    took = []
    for traffic in ((documents,), (documents, flows)):
        _, output = measure(replace(usual, traffic=traffic), built)
        table = results.table(output, "documents.csv").sort_values("asked_us")
        took.append((table.acked_us - table.first_us).to_numpy() / 1e3)
    packet = (PACKET + ETHERNET) * 8 / 4e6 * 1e3
    waited = took[1] - took[0]
    assert len(waited) == 20
    assert waited.min() > -0.1 and waited.max() < 1.25 * packet, waited


@pytest.mark.parametrize("queue", ["red", "codel", "pie", "fq", "fq_codel", "cake", "priority"])
def test_every_queue_carries_traffic(built: Programs, no_kept_results: Path, queue: str) -> None:
    metrics, _ = measure(today("cubic", rate=5.0, queue=queue, duration=20.0, flows=2), built)
    assert metrics["foreground"] > 1
    assert metrics["background"] > 0.3


@pytest.mark.parametrize("limit", [200_000, 1_000_000])
def test_a_rate_limit_limits(built: Programs, no_kept_results: Path, limit: int) -> None:
    scenario = today("none", rate=10.0, duration=20.0)
    scenario = replace(scenario, traffic=(Bulk("bulk", "home", 2, "reno", rate=limit),))
    metrics, _ = measure(scenario, built)
    assert metrics["background"] == pytest.approx(2 * limit / 1e6, rel=0.1)
