# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import pandas as pd
import pytest

from experiments.tcp_nice.replication import EACH, LINES, REGIONS, distribution, mean_while, network
from netnice_lab.model.traffic import Change, Documents

COLUMNS = ["client", "asked_us", "first_us", "acked_us", "arrived_us"]


def test_what_was_asked_for_after_the_transfer_does_not_count() -> None:
    rows = [
        (1, 1_000_000, 1_000_000, 1_100_000, 1_050_000),
        (1, 2_000_000, 2_000_000, 2_300_000, 2_200_000),
        (1, 5_000_000, 5_000_000, 5_001_000, 5_001_000),
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    # for one second 100 ms, for three 300: the last came after its end
    assert mean_while(frame, {1: 4e6}, "acked_us", 9e6) == pytest.approx((100 + 3 * 300) / 4)
    assert mean_while(frame, {1: 4e6}, "arrived_us", 9e6) == pytest.approx((50 + 3 * 200) / 4)
    assert mean_while(frame, {1: 1.5e6}, "acked_us", 9e6) == pytest.approx(100)


def test_what_did_not_arrive_waits_until_the_end() -> None:
    rows = [(1, 1_000_000, 1_000_000, 0, 0), (1, 2_000_000, 2_000_000, 2_100_000, 2_100_000)]
    assert mean_while(pd.DataFrame(rows, columns=COLUMNS), {1: 4e6}, "acked_us", 9e6) == pytest.approx(8000)


def test_every_server_has_its_clients_and_its_throttle() -> None:
    made = distribution("reno", 96_000, 1)
    files = [t for t in made.traffic if isinstance(t, Documents) and t.group.endswith("file")]
    assert len(files) == REGIONS * EACH * len(LINES) == 200
    throttles = [t for t in made.traffic if isinstance(t, Change)]
    assert len(throttles) == REGIONS
    devices = dict(network().devices())
    for throttle in throttles:
        assert f"dev {devices[throttle.node]} root fq maxrate 96000bit" in throttle.command
    assert not [t for t in distribution("netnice", 0, 1).traffic if isinstance(t, Change)]


def test_a_groups_readers_are_its_own() -> None:
    readers = distribution("netnice", 0, 1).render().readers
    numbers = [number for group in readers.values() for number in group]
    assert len(numbers) == len(set(numbers)) == 3 * 200
