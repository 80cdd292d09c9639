# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Other people's eBPF at the root of the cgroups and below: both do their work, and other programs stay after `down`.

They attach as systemd does (multi) and as older tools do (alone, or to be overridden). Cilium also
removes what else is at the root.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.conftest import Loaded
from system.harness import kernel, runtime
from system.harness.commands import Pair, marks, netnicectl, receiver
from system.harness.kernel import inside
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
    found: list[dict[str, Any]] = kernel.bpftool("cgroup", "show", kernel.cgroup_root())
    return found


def yields(pair: Pair, *first: str) -> bool:
    """Does a connection of what netnice starts run on its level?"""
    client, _, port = pair.connect(client=[*first, program("netnice"), "-n", "1"])
    with client:
        return marks(pair.a, 4, "dport", port) == ("netnice1", 4)


def segments_seen(pair: Pair) -> int:
    """Of how many segments netnice is told before their ACKs, of a megabyte that a command of its receives."""

    with Nginx(pair.b, {"data": 1 << 20}) as web:
        before = receiver()["segments"]
        pair.a.run(program("netnice"), "curl", "-sSf", "-o", "/dev/null", web.url("data"))
        return receiver()["segments"] - before


@contextlib.contextmanager
def of_others(section: str, *flags: str, cgroup: Path | None = None, does: str = runtime.NOTHING) -> Iterator[None]:
    """Their program; afterwards it must be there as before."""
    where = cgroup or kernel.cgroup_root()
    with runtime.at(where, section, KINDS[section], *flags, does=does):
        yield


def test_what_a_killed_run_left_goes(down: dict[int, str]) -> None:
    left: list[dict[str, Any]] | None = None
    with contextlib.suppress(subprocess.CalledProcessError), of_others("sockops"):
        runtime.sweep()
        left = attached()
    assert left == []


class TestAtTheRoot:
    def test_who_lets_others_join(self, down: dict[int, str], pair: Pair) -> None:
        """Before ours, of each kind: both are called."""

        def calls() -> list[int]:
            found = runtime.programs()
            return [found[number][1].calls for number in sorted(found) if found[number][0] == runtime.EMPTY]

        with contextlib.ExitStack() as others, runtime.measured():
            for section in KINDS:
                others.enter_context(of_others(section, "multi"))
            netnicectl("up", "--quic")
            before = calls()
            assert yields(pair, "netnice", "--quic=tcp")
            called = [section for section, b, a in zip(KINDS, before, calls(), strict=True) if a > b]
            assert {*called, "cgroup/sendmsg4"} == KINDS.keys()
            netnicectl("down")
            assert [one["name"] for one in attached()] == [runtime.EMPTY] * len(KINDS)

    @pytest.mark.parametrize("section", KINDS)
    def test_who_joins(self, loaded: Loaded, pair: Pair, section: str) -> None:
        """After ours."""
        loaded.reset("--quic")
        with of_others(section, "multi"):
            assert yields(pair, "netnice", "--quic=tcp")

    def test_who_lets_nobody_join_nor_be_below(self, down: dict[int, str]) -> None:
        """Then it is told whose fault it is, and nothing is left."""
        with of_others("sockops"):
            said = netnicectl("up", check=False)
            assert said.returncode == 1
            assert f"'{runtime.EMPTY}' (eBPF program " in said.stderr
            assert "nor to any cgroup below" in said.stderr
            assert [one["name"] for one in attached()] == [runtime.EMPTY]
            kernel.assert_nothing_remains(down)
        assert netnicectl("up").stdout.startswith("up")

    def test_who_lets_others_be_below_only(self, down: dict[int, str], pair: Pair) -> None:
        """Root's commands yield all the same, users are told; the other program stays."""
        with of_others("sockops", "override"):
            assert f"Held by '{runtime.EMPTY}'" in netnicectl("doctor", check=False).stdout
            said = netnicectl("up")
            assert "only root can use it" in said.stderr
            assert runtime.EMPTY in said.stderr
            assert yields(pair)
            assert [one["name"] for one in attached()] == [runtime.EMPTY]
            netnicectl("down")
            assert [one["name"] for one in attached()] == [runtime.EMPTY]

    def test_who_sweeps_away_what_it_finds(self, fresh: dict[int, str], pair: Pair) -> None:
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
    def test_a_services_own(self, up: None, pair: Pair, section: str, flags: list[str]) -> None:
        with kernel.cgroup("job.service") as unit, of_others(section, *flags, cgroup=unit):
            assert yields(pair, *inside(unit))


class TestFlags:
    """Of a connection's events: a program that sets its own and forgets others' takes them away."""

    def test_before_ours(self, down: dict[int, str], pair: Pair) -> None:
        with of_others("sockops", "multi", does=runtime.OVERWRITES):
            netnicectl("up")
            assert yields(pair)
            assert segments_seen(pair) >= _SEGMENTS

    def test_who_wants_events_too(self, up: None, pair: Pair) -> None:
        """At their first event ours are asked for again."""
        with of_others("sockops", "multi", does=runtime.FORGETS):
            assert yields(pair)
            assert segments_seen(pair) >= _SEGMENTS

    def test_after_ours(self, up: None, pair: Pair) -> None:
        with of_others("sockops", "multi", does=runtime.OVERWRITES):
            assert yields(pair)

    @pytest.mark.xfail(strict=True, reason="the kernel tells of no event by which ours could be asked for again")
    def test_after_ours_what_it_receives(self, up: None, pair: Pair) -> None:
        with of_others("sockops", "multi", does=runtime.OVERWRITES):
            assert segments_seen(pair) >= _SEGMENTS
