# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from experiments.tcp_nice.section4 import paper
from netnice_lab import places
from netnice_lab.errors import LabError
from netnice_lab.judgement import bars, pins
from netnice_lab.judgement.verdict import Outcome
from netnice_lab.model.experiment import Bar, Experiment

HOLDS, FAILED, KNOWN_MISS = Outcome


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    monkeypatch.setattr(places, "PINS", tmp_path)
    return Experiment(
        title="t",
        claim="c",
        sweep={"protocol": ("a", "b")},
        scenario=paper,
        figures=[],
        name="one",
        pinned={"latency": 0.1},
        bars=[Bar("b is no worse than twice a", "latency", {"protocol": "b"}, {"protocol": "a"}, maximum=2.0)],
    )


def frame(a: float, b: float) -> pd.DataFrame:
    rows = [("a", 1, a), ("a", 2, a + 2), ("b", 1, b), ("b", 2, b + 2)]
    return pd.DataFrame(rows, columns=["protocol", "seed", "latency"])


def test_what_was_pinned_passes(one: Experiment) -> None:
    pins.pin(one, frame(100, 150))
    assert not any(v.failed for v in pins.check(one, frame(100, 150)))


def test_a_moved_number_fails_and_shows_old_new_and_bounds(one: Experiment) -> None:
    pins.pin(one, frame(100, 150))
    (bad,) = [v for v in pins.check(one, frame(100, 180)) if v.failed]
    assert (bad.old, bad.new) == (151, 181)
    assert (bad.low, bad.high) == pytest.approx((135.9, 166.1), abs=0.01)


def test_fewer_seeds_compare_with_the_same_seeds(one: Experiment) -> None:
    pins.pin(one, frame(100, 150))
    rows = frame(100, 150)
    assert [v.old for v in pins.check(one, rows[rows.seed == 1])] == [100, 150]


def test_a_cell_that_was_never_pinned_is_an_error(one: Experiment) -> None:
    pins.pin(one, frame(100, 150)[:2])
    with pytest.raises(LabError, match="protocol=b is not pinned"):
        pins.check(one, frame(100, 150))


def test_a_cell_that_was_not_run_keeps_its_pins(one: Experiment) -> None:
    pins.pin(one, frame(100, 150))
    pins.pin(one, frame(100, 300)[2:])
    assert [v.old for v in pins.check(one, frame(100, 150))] == [101, 301]


def test_missing_pins_say_how_to_make_them(one: Experiment) -> None:
    with pytest.raises(LabError, match="netnice-lab pin one"):
        pins.check(one, frame(1, 1))


def test_a_bar_that_is_broken_fails(one: Experiment) -> None:
    assert [v.outcome for v in bars.judge_all(one, frame(100, 150))] == [HOLDS]
    assert [v.outcome for v in bars.judge_all(one, frame(100, 250))] == [FAILED]


def test_a_bar_of_two_metrics_is_the_larger_of_its_ratios() -> None:
    rows = pd.DataFrame({"protocol": ["a", "b", "c", "d"], "seed": 1, "time": [10, 9, 11, 8], "ping": [10, 9, 8, 12]})
    values = {}
    for other in ("b", "c", "d"):
        found = bars.measure(Bar(other, "time", {"protocol": other}, {"protocol": "a"}, or_metric="ping"), rows)
        assert found
        values[other] = found[0]
    assert values == pytest.approx({"b": 0.9, "c": 1.1, "d": 1.2}), "only b is better in both"


def test_a_bar_is_judged_on_the_mean_of_the_seeds_not_on_one(one: Experiment) -> None:
    bar = Bar("b", "latency", {"protocol": "b"}, minimum=150.5, maximum=151.5)
    assert [v.outcome for v in bars.judge_all(replace(one, bars=[bar]), frame(100, 150))] == [HOLDS], "150 and 152"
    assert [v.outcome for v in bars.judge_all(replace(one, bars=[bar]), frame(100, 151))] == [FAILED], (
        "one of them is in"
    )


def test_the_reason_of_a_bar_that_is_not_met_has_what_was_measured(one: Experiment) -> None:
    bar = Bar("b", "latency", {"protocol": "b"}, maximum=9, holds=False, reason="{seeds} runs have {mean} ± {half}")
    (verdict,) = bars.judge_all(replace(one, bars=[bar]), frame(100, 150))
    assert verdict.outcome is Outcome.KNOWN_MISS
    assert verdict.note.endswith("not to be met: 2 runs have 151 ± 13")


def test_a_known_miss_that_is_met_fails_until_it_is_promoted(one: Experiment) -> None:
    found = replace(one, bars=[Bar("b", "latency", {"protocol": "b"}, maximum=150, holds=False)])
    assert [v.outcome for v in bars.judge_all(found, frame(100, 150))] == [KNOWN_MISS], "the mean of 150 and 152"
    (verdict,) = bars.judge_all(found, frame(100, 140))
    assert verdict.outcome is FAILED
    assert "promote" in verdict.note
    promoted = replace(one, bars=[replace(found.bars[0], holds=True)])
    assert [v.outcome for v in bars.judge_all(promoted, frame(100, 140))] == [HOLDS]


def test_fewer_seeds_than_a_bar_is_the_mean_of_promote_nothing(one: Experiment) -> None:
    found = replace(one, bars=[Bar("b", "latency", {"protocol": "b"}, maximum=150, holds=False)])
    rows = frame(100, 140)
    assert [v.outcome for v in bars.judge_all(found, rows[rows.seed == 1])] == [KNOWN_MISS]
    more = replace(found, more_seeds=[({"protocol": "b"}, 3)])
    assert [v.outcome for v in bars.judge_all(more, rows)] == [KNOWN_MISS]
