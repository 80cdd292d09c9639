# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The lab's network of `agree`: what netnice-path's own rule says of a packet's time is what a packet meets."""

from dataclasses import replace
from pathlib import Path

import pytest

from netnice_lab.comparison.agreement import MTU, RATE, RTT, SERVICE, cases, equivalent, grouped, shaken
from netnice_lab.engine import machine
from netnice_lab.engine.programs import Programs
from netnice_lab.measures import results
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk, Document, Documents

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
