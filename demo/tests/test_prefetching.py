# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The prefetching figure's arithmetic, and what of it is refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from demo.prefetching import table
from demo.prefetching.__main__ import main
from demo.prefetching.conditions import ARMS, LINKS
from demo.prefetching.run import Result


def result(link: str, arm: str, mean_ms: float, *, trusted: bool = True, unfinished: int = 0) -> Result:
    return Result(
        link=link,
        arm=arm,
        requests=100,
        mean_ms=mean_ms,
        median_ms=0.0,
        p95_ms=3 * mean_ms,
        prefetched_share=0.5,
        unfinished=unfinished,
        errors=0,
        demanded_bps=150e3,
        prefetched_bps=1e6,
        wasted_bps=8e5,
        refused=0,
        congestion_controls=["reno"],
        path_trusted=trusted,
        path_reasons=[] if trusted else ["late"],
    )


def test_the_arms_are_the_papers_and_two_more() -> None:
    keys = [arm.key for arm in ARMS]
    assert keys[0] == "none"
    assert {"conservative-reno", "aggressive-reno", "conservative-nice", "aggressive-nice"} <= set(keys)
    assert len(keys) == len(set(keys)) == 9
    assert [link.key for link in LINKS] == ["cable", "modem"]


def test_ratios_are_over_the_same_link_without_prefetching() -> None:
    results = [
        result("cable", "none", 200),
        result("cable", "aggressive-netnice", 50),
        result("modem", "aggressive-netnice", 1),
    ]
    assert table.ratio(results, "cable", "aggressive-netnice") == 0.25
    assert table.ratio(results, "modem", "aggressive-netnice") is None
    assert [row[3] for row in table.rows(results)] == ["1.00", "0.25", "–"]


@pytest.mark.parametrize(("cable", "modem", "words"), [(66, 105, ["met", "met"]), (67, 106, ["MISSED", "MISSED"])])
def test_a_bar_is_met_or_missed(cable: float, modem: float, words: list[str]) -> None:
    results = [
        result("cable", "none", 200),
        result("cable", "aggressive-netnice", cable),
        result("modem", "none", 100),
        result("modem", "aggressive-netnice", modem),
    ]
    assert [line.partition(":")[0] for line in table.verdicts(results)] == words


def test_doubts_are_said() -> None:
    said = table.doubts([result("cable", "none", 1, trusted=False), result("modem", "none", 1, unfinished=3)])
    assert said[0] == "VOID cable none: late"
    assert said[1].startswith("modem none: 3 had not come")


def test_runs_of_other_conditions_are_not_mixed_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {"conditions": {"foreground": "bbr"}, "runs": [asdict(result("cable", "none", 1))]}
    (tmp_path / "prefetching.json").write_text(json.dumps(record))
    assert main(["--output", str(tmp_path)]) == 1
    assert "other conditions" in capsys.readouterr().err


def test_an_unknown_arm_is_refused() -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--arms", "aggressive-bbr"])
