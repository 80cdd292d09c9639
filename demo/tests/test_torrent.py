# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The torrent's arithmetic, and a short run of the whole."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo.__main__ import main
from demo.torrent import table
from demo.torrent.conditions import LOADS, SCENARIOS, Conditions
from demo.torrent.scene import Result, delays
from known_miss import KnownMiss

TOP = Path(__file__).resolve().parents[2]
_DOES = {load.key: load.title for load in LOADS}


def result(load: str, kind: str, *, queue_ms: float = 400, mbit: float = 9, page_ms: float = 500) -> Result:
    return Result(
        load=load,
        kind=kind,
        queue_t=[0.0],
        queue_ms=[queue_ms],
        torrent_bps=mbit * 1e6,
        page_ms=[page_ms] if page_ms else [],
        pages_failed=0 if page_ms else 2,
        path_trusted=True,
        path_reasons=[],
    )


def test_a_queues_delay_is_its_bytes_at_the_links_rate() -> None:
    trace: list[dict[str, Any]] = [
        {"monotonic_time": 100.0},
        *(
            {"t": t, "up": {"queue_bytes": size}, "down": {"queue_bytes": 0}}
            for t, size in enumerate((0, 12_500, 25_000, 5))
        ),
    ]
    assert delays(trace, "up", 10_000_000, begin=101.0, seconds=1) == [(0.0, 10.0), (1.0, 20.0)]
    assert delays(trace, "down", 10_000_000, begin=101.0, seconds=1) == [(0.0, 0.0), (1.0, 0.0)]


def test_the_percentile_is_exceeded_by_a_twentieth() -> None:
    one = result("seed", "cubic")
    one.queue_ms[:] = [float(n) for n in range(1, 101)]
    assert (one.queue_median_ms, one.queue_p95_ms) == (50.5, 95.0)


def test_each_direction_has_its_own_measure() -> None:
    results = [
        result("seed", "nothing", queue_ms=0, mbit=0, page_ms=100),
        result("seed", "cubic", mbit=8, page_ms=500),
        result("seed", "netnice", queue_ms=5, mbit=6, page_ms=110),
        result("leech", "netnice", queue_ms=5, mbit=6, page_ms=110),
    ]
    nothing, plain, netnice, other = table.rows(results)
    assert nothing[4] == "–"
    assert plain[4:] == ("8.00 Mbit/s", "500 ms, × 5.00")
    assert netnice[2:] == ("5 ms", "5 ms", "6.00 Mbit/s, 75 %", "110 ms, × 1.10")
    assert other[4:] == ("6.00 Mbit/s", "110 ms"), "there is nothing of its direction to compare with"


def test_the_document_has_the_table_that_the_scene_prints() -> None:
    _, _, rest = (TOP / "docs" / "torrent.md").read_text().partition("<!-- measured: begin")
    shown = rest.partition("-->\n")[2].partition("<!-- measured: end -->")[0].splitlines()
    made = table.markdown([result(load.key, one.key) for load in LOADS for one in SCENARIOS]).splitlines()
    assert shown[:2] == made[:2]
    assert [line.split(" | ")[:2] for line in shown[2:]] == [line.split(" | ")[:2] for line in made[2:]]


def test_pages_that_never_came_are_said() -> None:
    none = result("seed", "cubic", page_ms=0)
    assert math.isinf(none.page_mean_ms)
    assert table.rows([none])[0][-1] == "none came"


def test_no_torrent_is_whole_before_the_end() -> None:
    c = Conditions(seconds=100)
    for load in LOADS:
        assert c.torrent_bytes(load) * 8 > load.rate_bps * (c.warmup_s + c.seconds)


def test_buffers_are_as_long_both_ways() -> None:
    adsl = LOADS[-1]
    up, down = (adsl.queue_bytes(bps) * 8 / bps for bps in (adsl.up_bps, adsl.down_bps))
    assert up == down == 1.0


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--clients", "3"], "not for the scene torrent; its background is chosen by --loads"),
        (["--loads", "up"], "choose from seed, leech, adsl"),
        (["--scenarios", "bbr"], "choose from nothing, cubic, utp, netnice, priority"),
    ],
)
def test_what_it_does_not_have_is_refused(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--scene", "torrent", *argv])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("load", ["seed", "leech"])
def test_a_short_torrent_from_end_to_end(tmp_path: Path, load: str, known_miss: KnownMiss) -> None:
    words = ["--scene", "torrent", "--loads", load, "--scenarios", "cubic,netnice", "--seconds", "8"]
    done = subprocess.run(
        [sys.executable, "-m", "demo", *words, "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    print(done.stdout, done.stderr)
    # 3: the machine was busy. The figures are void then, but all must work.
    assert done.returncode in (0, 3), done.stderr
    runs = [Result(**one) for one in json.loads((tmp_path / "demo.json").read_text())["runs"]]
    assert [(one.load, one.kind) for one in runs] == [(load, "cubic"), (load, "netnice")]
    for one in runs:
        assert one.torrent_bps > 1e6, "the clients found each other, and the data goes"
        assert len(one.queue_ms) > 100 and one.page_ms
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    if done.returncode == 3:
        return
    plain, netnice = runs
    assert netnice.queue_median_ms <= 20 < 200 < plain.queue_median_ms
    known_miss(
        f"a client that {_DOES[load]} beside pages, goodput / plain TCP's",
        measured=netnice.torrent_bps / plain.torrent_bps,
        least=0.8,
        noise=0.2,
        reason="it leaves whenever a page begins, and does not find all of the link again before the next",
    )
