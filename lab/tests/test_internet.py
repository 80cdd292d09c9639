# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import numpy as np
import pytest

from experiments.tcp_nice import drive
from experiments.tcp_nice.hours import LOADS, hourly
from experiments.tcp_nice.internet import PATHS, PAYLOAD, parts, transfer
from netnice_lab.model.traffic import Bulk, Change, Documents


def test_an_action_is_a_primary_and_its_secondaries() -> None:
    assert parts("reno/null") == ("reno", "none", 0)
    assert parts("reno/nice8") == ("reno", "nice", 8)
    assert parts("cubic/netnice") == ("cubic", "netnice", 1)
    flows = [t for t in transfer("cable", "reno/nice8", 1).traffic if isinstance(t, Bulk)]
    assert [(t.flows, t.congestion_control) for t in flows] == [(8, "nice")]


def test_a_transfer_is_what_the_path_carries_in_its_time() -> None:
    assert PATHS["cable"].size(1) == pytest.approx(1_500_000 * 10 / 8 * PAYLOAD, abs=1)
    sizes = [PATHS["lte"].size(seed) for seed in range(1, 9)]
    assert len(set(sizes)) == len(sizes), "every seed begins at another moment of the drive"
    assert min(sizes) > 1_000_000


def test_the_drive_begins_anew_at_its_end() -> None:
    lasting = len(drive.PACKETS) * drive.EVERY
    assert lasting == 240
    assert drive.rates(lasting - 1, 2) == drive.rates(lasting - 1, 1) + drive.rates(0, 1)
    assert min(drive.rates(0, lasting)) == drive.LEAST
    assert np.mean(drive.rates(0, lasting)) == pytest.approx(12.7e6, rel=0.05)


def test_the_satellites_rtt_steps_within_its_bounds() -> None:
    steps = [t for t in transfer("satellite", "reno/reno8", 2).traffic if isinstance(t, Change)]
    times = np.diff([t.at for t in steps])
    assert len(steps) > 3 and times == pytest.approx(15.0)
    delays = [int(t.command.split("delay ")[1].split("us")[0]) for t in steps]
    assert min(delays) >= 30_000 and max(delays) <= 60_000 and len(set(delays)) > 3


def test_an_hours_others_are_the_same_for_every_action_and_as_busy_as_it_says() -> None:
    def others(hour: int, action: str) -> Documents:
        (found,) = [t for t in hourly("london", hour, action, 1).traffic if isinstance(t, Documents)]
        return found

    for hour, load in LOADS.items():
        documents = others(hour, "reno/null").documents
        assert documents == others(hour, "reno/netnice8").documents
        asked = sum(document.size for document in documents) * 8 / 20
        assert asked == pytest.approx(load * PATHS["london"].rate, rel=0.01)
