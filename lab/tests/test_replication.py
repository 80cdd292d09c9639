# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import pandas as pd
import pytest

from experiments.tcp_nice.replication import EACH, LINES, REGIONS, Distribution, distribution, mean_while, network
from netnice_lab.model.output import Sampled
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


def test_completion_times_are_from_the_wish_to_the_last_byte() -> None:
    readers = {
        f"{line} {what}": list(range(first, first + REGIONS * EACH))
        for first, (line, what) in zip(
            range(0, 10_000, REGIONS * EACH),
            ((line, what) for line in LINES for what in ("file", "ping", "request")),
            strict=False,
        )
    }
    rows = [
        (n, at, at, at + 1_000_000, at + 2_000_000)
        for name, numbers in readers.items()
        for n in numbers
        for at in ((1_000_000,) if name.endswith("file") else (1_000_000, 2_000_000))
    ]
    empty, frame = pd.DataFrame(), pd.DataFrame(rows, columns=COLUMNS)
    found = Distribution().numbers(Sampled({}, 9.0, empty, empty, frame, readers))
    assert found["time"] == pytest.approx(2)
    assert {found[f"{line}_late"] for line in LINES} == {0}
