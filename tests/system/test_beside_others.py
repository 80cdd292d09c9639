# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Other people's eBPF at the root of the cgroups and below: both do their work, and theirs is there after `down`.

The ways to attach are those of systemd (multi), of Cilium (a sweep of what else is at the root), of older
tools (alone, or to be overridden).
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from known_miss import KnownMiss
from system.harness import cgroups, empty, kernel, runtime
from system.harness.cgroups import inside
from system.harness.commands import PROGRAMS, Pair, Run
from system.harness.marks import marks
from testbed import Nginx, program

#: Of a megabyte, but for what the handshake's window has let come.
_SEGMENTS = 700
#: What netnice attaches to the root, as a section of an object and as bpftool has it.
KINDS = {
    "sockops": "sock_ops",
    "cgroup/sock_create": "cgroup_inet_sock_create",
    "cgroup/sysctl": "cgroup_sysctl",
    "cgroup/connect4": "cgroup_inet4_connect",
    "cgroup/sendmsg4": "cgroup_udp4_sendmsg",
}


def attached() -> list[dict[str, Any]]:
    """All at the root, netnice's and others'."""
    words = [program("bpftool"), "-j", "cgroup", "show", str(kernel.cgroup_root())]
    found: list[dict[str, Any]] = json.loads(
        subprocess.run(words, capture_output=True, check=True).stdout.strip() or "[]"
    )
    return found


def yields(pair: Pair, *first: str) -> bool:
    """Does a connection of what netnice starts run on its level?"""
    server = pair.hold(pair.b, "listen")
    port = int(server.line())
    words = [*first, program("netnice"), "-n", "1", sys.executable, str(PROGRAMS / "hold.py")]
    with pair.a.spawn(*words, "connect", pair.b4, str(port), stdout=subprocess.PIPE) as client:
        client.line()
        return marks(pair.a, 4, "dport", port) == ("netnice1", 4)


def asked(pair: Pair, netnicectl: Run) -> int:
    """Of how many segments netnice is told before their ACKs, of a megabyte that a command of its receives."""

    def segments() -> int:
        return int(json.loads(netnicectl("status", "--json").stdout)["receiver"]["counters"]["segments"])

    with Nginx(pair.b, {"data": 1 << 20}) as web:
        before = segments()
        pair.a.run(program("netnice"), "curl", "-sSf", "-o", "/dev/null", web.url("data"))
        return segments() - before


@contextlib.contextmanager
def somebody(section: str, *flags: str, cgroup: Path | None = None, does: str = empty.NOTHING) -> Iterator[None]:
    """Their program; afterwards it must be there as before."""
    where = cgroup or kernel.cgroup_root()
    with empty.at(where, section, KINDS[section], *flags, does=does):
        yield


class TestAtTheRoot:
    @pytest.mark.parametrize("section", KINDS)
    def test_who_lets_others_join(self, down: dict[int, str], netnicectl: Run, pair: Pair, section: str) -> None:
        """Before ours, as after: both are called."""
        with somebody(section, "multi"), runtime.measured():
            netnicectl("up", "--quic")
            before = runtime.newest(empty.EMPTY).calls
            assert yields(pair, "netnice", "--quic=tcp")
            assert runtime.newest(empty.EMPTY).calls > before or section == "cgroup/sendmsg4"
            netnicectl("down")
            assert [one["name"] for one in attached()] == [empty.EMPTY]
        netnicectl("up", "--quic")
        with somebody(section, "multi"):
            assert yields(pair, "netnice", "--quic=tcp")

    def test_who_lets_nobody_join_nor_be_below(self, down: dict[int, str], netnicectl: Run) -> None:
        """Then it is told whose fault it is, and nothing is left."""
        with somebody("sockops"):
            said = netnicectl("up", check=False)
            assert said.returncode == 1
            assert f"'{empty.EMPTY}' (program " in said.stderr
            assert "nor to any cgroup below" in said.stderr
            assert [one["name"] for one in attached()] == [empty.EMPTY]
            kernel.assert_nothing_remains(down)
        assert netnicectl("up").stdout.startswith("up")

    def test_who_lets_others_be_below_only(self, down: dict[int, str], netnicectl: Run, pair: Pair) -> None:
        """Root's commands yield all the same, users are told; theirs stays."""
        with somebody("sockops", "override"):
            assert f"Held by '{empty.EMPTY}'" in netnicectl("doctor", check=False).stdout
            said = netnicectl("up")
            assert "only root can use it" in said.stderr
            assert empty.EMPTY in said.stderr
            assert yields(pair)
            assert [one["name"] for one in attached()] == [empty.EMPTY]
            netnicectl("down")
            assert [one["name"] for one in attached()] == [empty.EMPTY]

    def test_who_sweeps_away_what_it_finds(self, up: dict[int, str], netnicectl: Run, pair: Pair) -> None:
        """As Cilium does with its kinds at its root: what a link holds is not to be detached by number."""
        netnicectl("up", "--quic")
        before = attached()
        for one in before:
            words = ["cgroup", "detach", str(kernel.cgroup_root()), one["attach_type"], "id", str(one["id"])]
            subprocess.run([program("bpftool"), *words], check=False, capture_output=True)
        assert attached() == before
        assert yields(pair)


class TestBelow:
    @pytest.mark.parametrize("flags", [[], ["override"], ["multi"]], ids=["alone", "override", "multi"])
    @pytest.mark.parametrize("section", ["sockops", "cgroup/sock_create", "cgroup/sysctl"])
    def test_a_services_own(self, up: dict[int, str], pair: Pair, section: str, flags: list[str]) -> None:
        with cgroups.made("job.service") as unit, somebody(section, *flags, cgroup=unit):
            assert yields(pair, *inside(unit))


class TestFlags:
    """Of a connection's events: a program that sets its own and forgets others' takes them away."""

    def test_before_ours(self, down: dict[int, str], netnicectl: Run, pair: Pair) -> None:
        with somebody("sockops", "multi", does=empty.OVERWRITES):
            netnicectl("up")
            assert yields(pair)
            assert asked(pair, netnicectl) >= _SEGMENTS

    def test_who_wants_events_too(self, up: dict[int, str], netnicectl: Run, pair: Pair) -> None:
        """At their first event ours are asked for again."""
        with somebody("sockops", "multi", does=empty.FORGETS):
            assert yields(pair)
            assert asked(pair, netnicectl) >= _SEGMENTS

    def test_after_ours(self, up: dict[int, str], netnicectl: Run, pair: Pair, known_miss: KnownMiss) -> None:
        with somebody("sockops", "multi", does=empty.OVERWRITES):
            assert yields(pair)
            known_miss(
                "what it receives yields though somebody's program, attached later, takes all its events away",
                measured=asked(pair, netnicectl),
                least=_SEGMENTS,
                reason="the kernel tells of no event by which they could be asked for again",
            )
