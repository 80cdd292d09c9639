# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import pytest

from netnice_lab.errors import LabError
from netnice_lab.model.topology import Link, Pipe, Queue, Topology, dumbbell


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
