# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What netnice costs: its eBPF programs by the kernel's own statistics, its commands by the clock.

A machine has fast and slow minutes, and the cost of the statistics themselves is in all of it. Both are in an empty
program that runs in the same seconds, so it is the unit of what an ACK and a segment cost. The place in memory of a
load makes up to a third of that. So the number of loads is fixed, and the median of all counts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path as File
from typing import NamedTuple

import pytest

from measurements import Measure
from system.harness import kernel, runtime
from system.harness.commands import DROP, PYTHON, end, netnicectl, receiver, status
from system.harness.kernel import inside
from system.harness.runtime import EMPTY_NS, Spent
from testbed import Namespace, Nginx, Path, Process, Veth, netnice_up, program
from testbed.namespace import wait_until

pytestmark = pytest.mark.verify("costs are measurements")
#: That meet connections of any cgroup. `adopt` answers a call of applications.
_FOREGROUND = ("netnice_socket", "netnice_opened", "adopted", "adopt")
SOCKETS = "import socket\nfor _ in range(20000): socket.socket().close()"
FORKS = "import os\nfor _ in range(3000):\n  if not os.fork(): os._exit(0)\n  os.wait()"
UDP = "import socket\nfor _ in range(20000):\n  with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: "
SENDS, CONNECTS = UDP + 's.sendto(b"", ("127.0.0.1", 9))', UDP + 's.connect(("127.0.0.1", 9))'


def spent_by(work: Callable[[], object], *names: str) -> list[Spent]:
    """What programs of these names cost meanwhile: of each the one that was loaded last."""
    before = [runtime.newest(name) for name in names]
    work()
    return [runtime.newest(name) - earlier for name, earlier in zip(names, before, strict=True)]


def each(name: str, *argv: str) -> float:
    """Nanoseconds a call of a program while a command runs: the median of five times."""
    times = [spent_by(lambda: subprocess.run(argv, check=True), name)[0] for _ in range(5)]
    assert min(one.calls for one in times) > 1000
    return statistics.median(one.each for one in times)


def test_an_ack(down: object, measure: Measure) -> None:
    """Beside Reno in eBPF; on other processors 41 to 95 ns, of which Reno had 61 where the bar was missed last."""
    found: dict[str, list[list[Spent]]] = {"netnice": [], "nnreno": []}
    for _ in range(5):
        with (
            runtime.on_all_arrivals(),
            netnice_up(["nnreno"]),
            Namespace("a") as a,
            Namespace("b") as b,
            Path(a, b, rate="200mbit", rtt="10ms"),
            runtime.measured(),
            b.spawn(*end("sink"), stdout=subprocess.PIPE) as sink,
        ):
            where = (b.address, sink.line().strip())
            for _ in range(2):  # interleaved, so that a busy second hits both
                for name, costs in found.items():
                    words = end("send", *where, name, "1")
                    costs.append(spent_by(lambda words=words: a.run(*words), f"{name}_cong_control", runtime.EMPTY))  # type: ignore[misc]
    ratio = statistics.median(
        ours.each / theirs.each for (ours, _), (theirs, _) in zip(found["netnice"], found["nnreno"], strict=True)
    )
    quiet = EMPTY_NS * statistics.median(one.each / nothing.each for one, nothing in found["netnice"])
    assert min(sum(one.calls for one, _ in costs) for costs in found.values()) > 1000
    measure("an ACK, of what Reno in eBPF costs", ratio, "×", most=1.5)
    measure("an ACK where an empty program takes 25 ns", quiet, "ns", most=63)


OPTIONS = """import socket, time
s = socket.socket()
def once(calls=50_000):
    began = time.perf_counter_ns()
    for _ in range(calls): s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0)
    return (time.perf_counter_ns() - began) / calls
print(min(once() for _ in range(15)))"""


def test_a_foreground_setsockopt(down: object, measure: Measure) -> None:
    """Of a program that is not nice: the best of many, for each is a system call that anything may interrupt."""

    def takes() -> float:
        return float(subprocess.run([PYTHON, "-c", OPTIONS], check=True, capture_output=True, text=True).stdout)

    without = min(takes() for _ in range(3))
    for words in ((), ("--applications",)):
        netnicectl("up", *words)
        more = min(takes() for _ in range(3)) - without
        netnicectl("down")
        measure(f"a foreground setsockopt after '{' '.join(('up', *words))}', more than without", more, "ns", most=300)


class Cost(NamedTuple):
    """Of one download."""

    acks: Spent
    nothing: Spent
    segments: int


def test_a_received_segment(down: object, measure: Measure) -> None:
    """In single segments, and joined to buffers."""
    costs: dict[str, list[Cost]] = {"65535": [], "1": []}
    with (
        Namespace("www") as www,
        Namespace("home") as home,
        Veth(www, home),
        Nginx(www, {"file": 32 << 20}) as server,
        runtime.on_all_arrivals(),
        runtime.measured(),
    ):
        fetch = ("netnice", "curl", "-sSo", "/dev/null", server.url("file"))
        for _ in range(5):
            netnicectl("down")
            earlier = runtime.programs().keys()
            netnicectl("up")
            for segments, found in costs.items():
                www.run("ip", "link", "set", "veth0", "gso_max_segs", segments)
                for _ in range(2):
                    before = runtime.spent("adopted", earlier), receiver()["segments"]
                    (nothing,) = spent_by(lambda: home.run(*fetch), runtime.EMPTY)
                    ours = runtime.spent("adopted", earlier) - before[0]
                    found.append(Cost(ours, nothing, receiver()["segments"] - before[1]))
    joined, single = costs.values()

    def ns(found: list[Cost]) -> float:
        """A segment, on a machine where an empty program takes EMPTY_NS."""
        return EMPTY_NS * statistics.median(one.acks.nanoseconds / one.segments / one.nothing.each for one in found)

    def in_a_buffer(found: list[Cost]) -> float:
        return max(one.segments / one.nothing.calls for one in found)

    assert min(one.segments for one in single) > 10_000
    assert in_a_buffer(single) < 1.01
    assert in_a_buffer(joined) > 4
    measure("a received segment, single, where an empty program takes 25 ns", ns(single), "ns", most=87)
    measure("a received segment, joined, of a single one's cost", ns(joined) / ns(single), "×", most=0.5)


def test_a_foreground_segment_costs_nothing(down: object) -> None:
    """A few calls when a connection begins, and none for any of its packets."""
    earlier = runtime.programs().keys()
    netnicectl("up", "--applications")
    with runtime.on_all_arrivals(), runtime.measured(), Namespace("a") as a, Namespace("b") as b, Veth(a, b):
        for namespace in (a, b):  # a packet an arrival, as a network card without GRO has it
            namespace.run("ethtool", "-K", "veth0", "gro", "off", "tso", "off", "gso", "off")
        with Nginx(a, {"much": 40 << 20, "little": 1}) as web:

            def of(document: str) -> tuple[dict[str, int], int]:
                """Calls of each program, and arrivals of packets, that fetching it took."""

                def calls() -> dict[str, int]:
                    return {name: runtime.spent(name, earlier).calls for name in _FOREGROUND}

                before, packets = calls(), runtime.newest(runtime.EMPTY).calls
                b.run("curl", "-so", "/dev/null", web.url(document))
                after = calls()
                return {n: after[n] - before[n] for n in after}, runtime.newest(runtime.EMPTY).calls - packets

            of("little")  # the server's first
            little, much = ([of(document) for _ in range(3)] for document in ("little", "much"))
    assert min(packets for _, packets in much) > 10_000, "its packets were not seen by anybody"
    for name in _FOREGROUND:
        few, many = (statistics.median(found[name] for found, _ in runs) for runs in (little, much))
        assert many == few, f"{name} runs for packets of the foreground"


def test_a_socket_and_a_fork(fresh: object, for_users: File, measure: Measure) -> None:
    """Of a process that is not nice; both programs run at each of these forks."""

    def forked() -> float:
        ours, nothing = spent_by(lambda: a.run(PYTHON, "-c", FORKS), "netnice_fork", runtime.EMPTY)
        assert min(ours.calls, nothing.calls) >= 3000
        return ours.each - nothing.each

    def both(when: str) -> None:
        measure(f"a socket while {when}", each("netnice_socket", PYTHON, "-c", SOCKETS), "ns", most=250)
        forks = statistics.median(forked() for _ in range(5))
        measure(f"a fork while {when}, more than an empty program", forks, "ns", most=100)

    nice = [*DROP, str(for_users / "netnice"), "--send-only", "sleep", "600"]
    with runtime.at_all_forks(), runtime.measured(), Namespace("a") as a:
        both("nothing is nice")
        with Process(nice):
            wait_until(lambda: bool(status()["niceness"]["processes"]), "the process to be nice")
            both("a process is")


def test_a_socket_while_another_cgroup_is_attached(fresh: object, measure: Measure) -> None:
    """Of a process six cgroups deep."""
    with kernel.cgroup("job.service") as unit, runtime.measured():
        deep = unit.joinpath(*"123456")
        deep.mkdir(parents=True)
        (unit / "other").mkdir()
        netnicectl("attach", str(unit / "other"))
        cost = each("netnice_socket", *inside(deep, PYTHON, "-c", SOCKETS))
    measure("a socket while another cgroup is attached", cost, "ns", most=250)


def test_a_datagram_and_a_connect_while_quic_is_refused(down: object, measure: Measure) -> None:
    """Of a process in the foreground, without a connection."""
    netnicectl("up", "--quic")
    with runtime.measured():
        for what, name, code in (("datagram", "quic_sendmsg4", SENDS), ("connect", "quic_connect4", CONNECTS)):
            measure(f"a {what} while QUIC is refused", each(name, PYTHON, "-c", code), "ns", most=250)


def test_statistics_are_as_before() -> None:
    before = runtime.SWITCH.read_text()
    with runtime.measured():
        pass
    assert runtime.SWITCH.read_text() == before


def test_a_command(fresh: object, measure: Measure) -> None:
    def median(*argv: str) -> float:
        times = []
        for _ in range(40):
            start = time.perf_counter()
            subprocess.run(argv, check=True)
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1e3

    true = program("true")
    more = median(program("netnice"), true) - median(true)
    measure("netnice true, more than true", more, "ms", most=20)


def test_a_look_at_a_thousand_connections(measure: Measure) -> None:
    """Both looks of top --once, the start of the program with them; memory is the program's own."""
    with Process(end("many", "500"), stdout=subprocess.PIPE) as held:
        held.line()
        top = subprocess.Popen([program("netnicectl"), "top", "--all", "--json"], stdout=subprocess.PIPE)
        assert top.stdout is not None
        first = top.stdout.read(1)  # the rest does not fit into the pipe: it lives until that is read
        lines = File(f"/proc/{top.pid}/status").read_text().splitlines()
        memory = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
        seen = json.loads(first + top.stdout.read())
        top.stdout.close()
        _, ended, used = os.wait4(top.pid, 0)
        top.returncode = os.waitstatus_to_exitcode(ended)
    assert top.returncode == 0
    assert len(seen["connections"]) >= 1000
    measure(
        "netnicectl top at 1,000 connections, of a core for a look", (used.ru_utime + used.ru_stime) / 2, "s", most=0.05
    )
    measure("its memory", memory / 1024, "MiB", most=64)
