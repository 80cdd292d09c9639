# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
from dataclasses import replace

import pytest

from netnice_lab.judgement import bars
from netnice_lab.judgement.bars import Outcome
from netnice_lab.model.experiment import Bar, Experiment, Row
from netnice_lab.model.scenario import Scenario

HOLDS, FAILED, KNOWN_MISS = Outcome


def no_scenario(**_: object) -> Scenario:
    raise NotImplementedError


ONE = Experiment(
    title="t",
    claim="c",
    sweep={"protocol": ("a", "b")},
    scenario=no_scenario,
    figures=[],
    name="one",
    pinned={"latency": 0.1},
    bars=[Bar("b is no worse than twice a", "latency", {"protocol": "b"}, {"protocol": "a"}, maximum=2.0)],
)


def rows(a: float, b: float) -> list[Row]:
    found = [("a", 1, a), ("a", 2, a + 2), ("b", 1, b), ("b", 2, b + 2)]
    return [{"experiment": "one", "protocol": p, "seed": seed, "latency": value} for p, seed, value in found]


def outcomes(experiment: Experiment, found: list[Row]) -> list[Outcome]:
    return [verdict.outcome for verdict in bars.judge_all(experiment, found)]


def test_a_bar_that_is_broken_fails() -> None:
    assert outcomes(ONE, rows(100, 150)) == [HOLDS]
    assert outcomes(ONE, rows(100, 250)) == [FAILED]


def test_a_bar_of_two_metrics_is_the_larger_of_its_ratios() -> None:
    table = {"a": (10, 10), "b": (9, 9), "c": (11, 8), "d": (8, 12)}
    found: list[Row] = [{"protocol": p, "seed": 1, "time": t, "ping": g} for p, (t, g) in table.items()]
    values = {}
    for other in ("b", "c", "d"):
        bar = Bar(other, "time", {"protocol": other}, {"protocol": "a"}, or_metric="ping")
        measured = bars.measure(bar, found)
        assert measured
        values[other] = measured[0]
    assert values == pytest.approx({"b": 0.9, "c": 1.1, "d": 1.2}), "only b is better in both"


def test_a_bar_is_judged_on_the_mean_of_the_seeds_not_on_one() -> None:
    one = replace(ONE, bars=[Bar("b", "latency", {"protocol": "b"}, minimum=150.5, maximum=151.5)])
    assert outcomes(one, rows(100, 150)) == [HOLDS], "150 and 152"
    assert outcomes(one, rows(100, 151)) == [FAILED], "one of them is in"


def test_the_reason_of_a_bar_that_is_not_met_has_what_was_measured() -> None:
    bar = Bar("b", "latency", {"protocol": "b"}, maximum=9, holds=False, reason="{seeds} runs have {mean} ± {half}")
    (verdict,) = bars.judge_all(replace(ONE, bars=[bar]), rows(100, 150))
    assert verdict.outcome is KNOWN_MISS
    assert verdict.note.endswith("not to be met: 2 runs have 151 ± 13")


def test_a_known_miss_that_is_met_fails_until_it_is_promoted() -> None:
    found = replace(ONE, bars=[Bar("b", "latency", {"protocol": "b"}, maximum=150, holds=False)])
    assert outcomes(found, rows(100, 150)) == [KNOWN_MISS], "the mean of 150 and 152"
    (verdict,) = bars.judge_all(found, rows(100, 140))
    assert verdict.outcome is FAILED
    assert "promote" in verdict.note
    promoted = replace(ONE, bars=[replace(found.bars[0], holds=True)])
    assert outcomes(promoted, rows(100, 140)) == [HOLDS]


def test_fewer_seeds_than_a_bar_is_the_mean_of_promote_nothing() -> None:
    found = replace(ONE, bars=[Bar("b", "latency", {"protocol": "b"}, maximum=150, holds=False)])
    assert outcomes(found, [row for row in rows(100, 140) if row["seed"] == 1]) == [KNOWN_MISS]
    more = replace(found, more_seeds=[({"protocol": "b"}, 3)])
    assert outcomes(more, rows(100, 140)) == [KNOWN_MISS]


def test_a_number_that_a_run_lacks_is_no_number_of_its_bar() -> None:
    found = rows(100, 150)
    found[0]["latency"] = float("nan")
    measured = bars.measure(ONE.bars[0], found)
    assert measured and measured[2] == 1
