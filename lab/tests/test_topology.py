# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Networks as data: the script that makes them, and that a guest's packets meet what is given; behind fq, too."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.frontier import today
from experiments.tcp_nice.section4 import PACKET, paper
from netnice_lab.comparison.agreement import MTU, RATE, RTT, SERVICE, cases, equivalent, grouped, shaken
from netnice_lab.engine import machine
from netnice_lab.engine.programs import Programs
from netnice_lab.errors import LabError
from netnice_lab.measures import results
from netnice_lab.model.output import Output
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import ETHERNET, Link, Pipe, Queue, Topology, dumbbell
from netnice_lab.model.traffic import Bulk, Change, Document, Documents, OnOff


def test_the_queue_and_rate_sit_on_the_router_and_the_delay_on_no_sending_host() -> None:
    script = dumbbell(1_000_000, 20_000, Queue("fifo", packets=10)).setup()
    assert "qdisc add dev router-2 root handle 1: tbf rate 1000000bit" in script
    assert "qdisc add dev router-2 parent 1:1 handle 10: pfifo limit 10" in script
    assert "tc -n www" not in script
    assert "qdisc add dev router-0 root netem delay 20000us" in script


def test_a_delay_behind_a_rate_goes_to_the_receiving_side() -> None:
    pipe = Pipe(1_000_000, Queue(packets=5), delay=5000)
    script = Topology(("a", "b"), ("r",), (Link("a", "r"), Link("r", "b", forward=pipe))).setup()
    assert "qdisc add dev b-1-in root netem delay 5000us" in script
    assert "mirred egress redirect dev b-1-in" in script


def test_bundles_arrive_at_the_receiving_side() -> None:
    pipe = Pipe(1_000_000, Queue(packets=5), slots=(1000, 4000))
    script = Topology(("a", "b"), ("r",), (Link("a", "r"), Link("r", "b", forward=pipe))).setup()
    assert "qdisc add dev b-1-in root netem delay 0us slot 1000us 4000us" in script


def test_routes_lead_through_routers_only() -> None:
    topology = Topology(
        ("a", "b", "c"), ("r", "s"), (Link("a", "r"), Link("r", "s"), Link("s", "b"), Link("b", "c"), Link("s", "c"))
    )
    assert topology.next_hops("a") == {"r": 0, "s": 0, "b": 0, "c": 0}
    assert topology.next_hops("c")["a"] == 4


def test_a_host_with_one_link_may_have_one_route() -> None:
    links = (Link("a", "r"), Link("b", "r"), Link("c", "r"))
    every, one = (Topology(("a", "b", "c"), ("r",), links, default_routes=on).setup() for on in (False, True))
    assert every.count("route replace") == 6 + 3, "every host to both others, the router to all three"
    assert one.count("route replace default via") == 3
    assert one.count("route replace") == 3 + 3


def test_red_marks_from_a_third_of_the_buffer_to_two_thirds() -> None:
    (red,) = Queue("red", packets=98, average_packet=512, ecn=True).commands("router-2", "1:1", 4_000_000)
    words = red.split()
    size, low, high = (int(words[words.index(name) + 1]) for name in ("limit", "min", "max"))
    assert (size, low, high) == (98 * 512, 98 * 512 // 3, 2 * 98 * 512 // 3)
    assert "ecn" in words


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Topology(("a", "b"), (), (Link("a", "c"),)), "no host or router"),
        (lambda: Topology(("a", "b", "c"), (), (Link("a", "b"),)), "cannot reach c"),
        (lambda: Topology(("a", "a"), (), ()), "same name"),
        (lambda: Topology(("a", "verylongname"), (), ()), "one to eight characters"),
        (lambda: Topology(("a", "b"), (), (Link("a", "b", mtu=20),)), "MTU 20"),
        (lambda: Queue("lifo", packets=1), "unknown queue 'lifo'"),
        (lambda: Queue("fifo"), "impossible fifo queue"),
        (lambda: Pipe(rate=-1), "impossible link"),
        (lambda: Pipe(rate=1), "belong together"),
        (lambda: Pipe(loss=1.0), "impossible link"),
        (lambda: Pipe(slots=(0, 5)), "the least and the most time"),
    ],
)
def test_an_impossible_topology_is_named(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(LabError, match=words):
        make()


def test_only_the_receiving_host_acknowledges_every_segment_at_once() -> None:
    queue = Queue("fifo", packets=9)
    usual, quick = (dumbbell(1_000_000, 20_000, queue, quick_acks=on).setup() for on in (False, True))
    assert "quickack" not in usual
    routes = [line for line in quick.splitlines() if line.endswith("quickack 1")]
    assert routes and all(line.startswith("route replace ") for line in routes)
    home = quick[quick.index("ip -n home") :]
    assert home.count("quickack 1") == len(routes), "no other host"


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


HOLDS = RATE * RTT / 8 // MTU
"""Full packets in netnice-path's queue of one BDP, the one being sent included."""


def test_a_full_packet_takes_the_round_trip_and_its_own_service(built: Programs, no_kept_results: Path) -> None:
    documents = Documents("www", "home", tuple(Document(1.0 + i, 1448, i) for i in range(3)), "cubic")
    output = machine.execute(Scenario(equivalent(), (documents,), 5.0, 0.5, 1).render())
    table = results.table(output, "documents.csv")
    latency = (table.acked_us - table.first_us) / 1e6
    assert latency.to_numpy() == pytest.approx(RTT + SERVICE, abs=1e-4)


def test_a_full_queue_adds_what_the_path_would(built: Programs, no_kept_results: Path) -> None:
    scenario = Scenario(equivalent(), (Bulk("www", "home", 1, "cubic"),), 30.0, 5.0, 1, sample=0.01)
    samples = results.samples(machine.execute(scenario.render()))
    assert samples["queue"].packets.max() == HOLDS - 1
    # the receiver acknowledges every other packet: a sample may be a fraction of a service time too long
    assert samples["flow"].rtt_us.max() / 1e6 == pytest.approx(RTT + HOLDS * SERVICE, abs=SERVICE / 2)


def test_the_first_seed_is_what_the_host_plays() -> None:
    documents = tuple(Document(float(i), 1000, i) for i in range(50))
    assert shaken(documents, 1) == documents
    moved = shaken(documents, 2)
    assert moved == shaken(documents, 2) != shaken(documents, 3)
    assert all(0 <= m.at - d.at < 1e-3 and m == replace(d, at=m.at) for d, m in zip(documents, moved, strict=True))


@pytest.mark.parametrize(("mount", "root"), [("/sys/fs/cgroup", "."), ("/sys/fs/cgroup/unified", "unified")])
def test_a_download_is_in_the_hosts_own_group(tmp_path: Path, mount: str, root: str) -> None:
    (tmp_path / "mounts").write_text(f"proc /proc proc rw 0 0\ncgroup2 {mount} cgroup2 rw 0 0\n")
    download = next(case for case in cases(40.0) if case.receives)
    plan = Scenario(equivalent(), download.traffic, 40.0, 8.0, 1).render().plan.splitlines()
    named = [grouped(line, tmp_path / "mounts") for line in plan if line.startswith("cgroup ")]
    assert named == [f"cgroup {root}/netnice/level0-receive", f"cgroup {root}/."]
    assert all(len(line) < len("cgroup ") + 32 for line in named), "what the guest's program reads"
    assert grouped("sink home 5001") == "sink home 5001"


# Of netnice behind fq, where each segment leaves when it is due.
RTT_MS = 20.0
QDISC = "qdisc replace dev bulk-1 root"
ONE = 4096  # force_window counts in 1/4096 segment
SETTLED, END = 4_000_000, 24_000_000  # us
TOGETHER = 3_000  # us between the ACKs of one pair


def gaps(window: int, changes: tuple[Change, ...], built: Programs) -> np.ndarray:
    """Between pairs, as parts of the ideal: two round trips over the window. The receiver acknowledges each segment."""
    chosen = protocol("netnice").with_parameters(force_window=window, max_gap=0)
    scenario = today(chosen, rate=100.0, rtt=RTT_MS, flows=1)
    (bulk,) = (one for one in scenario.traffic if isinstance(one, Bulk))
    scenario = replace(
        scenario,
        topology=replace(scenario.topology, quick_acks=("home",)),
        traffic=(bulk, *changes),
        duration=END / 1e6,
        warm_up=2.0,
        sample=0.001,
    )
    flow = results.samples(machine.execute(scenario.render()))["flow"]
    acked = flow.acked.diff() > 0
    times = flow.us[acked & (flow.us > SETTLED)].to_numpy(float)
    pairs = times[np.diff(times, prepend=0) > TOGETHER]
    found: np.ndarray = np.diff(pairs) / (2e3 * RTT_MS * ONE / window)
    return found


@pytest.mark.parametrize("qdisc", ["pfifo", "fq"])
@pytest.mark.parametrize("window", [ONE // 2, ONE // 8, 85], ids=["1/2", "1/8", "1/48"])
def test_gaps_of_pairs(window: int, qdisc: str, built: Programs, no_kept_results: Path) -> None:
    found = gaps(window, (Change(0.0, "bulk", f"{QDISC} {qdisc}"),), built)
    assert len(found) >= 8
    assert np.abs(found - 1).max() <= 0.1, (found.min(), found.max())


def test_nothing_leaves_early_when_fq_goes(built: Programs, no_kept_results: Path) -> None:
    """The kernel goes on leaving a connection to fq that has met it once; what fq holds is lost with it."""
    there = Change(0.0, "bulk", f"{QDISC} fq")
    gone = Change(END / 2e6, "bulk", f"{QDISC} pfifo")
    assert gaps(ONE // 8, (there, gone), built).min() >= 0.9


def test_what_is_spare_is_found(built: Programs, no_kept_results: Path) -> None:
    """Beside documents; less, as what fq was given cannot be taken back when the path turns out to be free."""
    usual = today("netnice", rate=10.0, flows=4, duration=40.0)
    behind = replace(usual, traffic=(*usual.traffic, Change(0.0, "bulk", f"{QDISC} fq")))
    without, found = (results.metrics(run, machine.execute(run)) for run in (usual.render(), behind.render()))
    assert found["background"] >= 0.7 * without["background"], (found["background"], without["background"])
    assert found["latency_geometric"] <= 1.02 * without["latency_geometric"]
