# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The arithmetic of the other scenes, their tables, and what of their options is refused."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from demo import prefetching
from demo.__main__ import main
from demo.scene import buffer_bytes, p95
from demo.scenes import distribution, household, torrent
from demo.scenes import prefetching as figure
from demo.tests.test_documents import measured
from demo.users import Playback, choose, moments


def at_home(load: str, kind: str, *, page_ms: float = 300.0, up: float = 0.0, down: float = 0.0) -> household.Result:
    return household.Result(
        load=load,
        kind=kind,
        call_ms=[float(ms) for ms in range(1, 101)],
        call_sent=104,
        call_lost=4,
        page_ms=[page_ms] if page_ms else [],
        pages_failed=0 if page_ms else 1,
        stalled_s=0.0,
        stalls=0,
        video_bps=8e6,
        up_bytes=up,
        down_bytes=down,
        path_trusted=True,
        path_reasons=[],
    )


def test_the_95th_percentile_is_what_one_in_twenty_exceeds() -> None:
    assert at_home("", "nothing").call_p95_ms == 95
    assert math.isinf(p95([]))


def test_pages_are_wanted_at_the_same_moments_for_the_same_seed() -> None:
    assert moments(3, 3.0, 60.0) == moments(3, 3.0, 60.0) != moments(4, 3.0, 60.0)
    assert 12 <= len(moments(3, 3.0, 60.0)) <= 30


def test_a_video_keeps_a_margin_and_falls_back_to_the_lowest_rate() -> None:
    ladder = household.Conditions().ladder_bps
    assert choose(ladder, 10_000_000) == 8_000_000
    assert choose(ladder, 9_900_000) == 5_000_000
    assert choose(ladder, 100) == choose(ladder, 0) == 1_000_000


def test_a_video_stalls_when_nothing_is_ahead() -> None:
    playback = Playback()
    playback.pass_time(5.0, counts=True)
    assert playback.stalls == 0, "it has not begun"
    playback.add(4.0, 1_000_000, counts=True)
    playback.pass_time(3.0, counts=True)
    assert (playback.stalls, playback.ahead_s) == (0, 1.0)
    playback.pass_time(3.0, counts=True)
    assert (playback.stalls, playback.stalled_s, playback.ahead_s) == (1, 2.0, 0.0)


def test_shares_are_of_the_ideal_and_pages_against_nothing_beside() -> None:
    alone = at_home("", "nothing")
    plain = at_home("both", "cubic", page_ms=600, up=20e6, down=80e6)
    ideal = at_home("both", "priority", up=10e6, down=100e6)
    first, second, third = household.rows([alone, plain, ideal])
    assert first[0] == "nothing" and first[4] == "300 ms" and first[6] == "–"
    assert second[1] == "plain" and second[4] == "600 ms, × 2.00"
    assert second[6:] == ("20 MB, 200 %", "80 MB, 80 %")
    assert third[6:] == ("10 MB", "100 MB")


def test_pages_of_a_household_that_never_came_are_said() -> None:
    none = at_home("up", "cubic", page_ms=0)
    assert math.isinf(none.page_mean_ms)
    assert household.rows([none])[0][4] == "none came"


def test_a_buffer_is_so_long_at_each_rate() -> None:
    assert [buffer_bytes(bps, 500) * 8 / bps for bps in (10_000_000, 50_000_000)] == [0.5, 0.5]
    assert buffer_bytes(1_000_000, 1000) == 125_000


def swarm(load: str, kind: str, *, queue_ms: float = 400, mbit: float = 9, page_ms: float = 500) -> torrent.Result:
    return torrent.Result(
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
    assert torrent.delays(trace, "up", 10_000_000, begin=101.0, seconds=1) == [(0.0, 10.0), (1.0, 20.0)]
    assert torrent.delays(trace, "down", 10_000_000, begin=101.0, seconds=1) == [(0.0, 0.0), (1.0, 0.0)]


def test_the_queues_percentile_is_exceeded_by_a_twentieth() -> None:
    one = swarm("seed", "cubic")
    one.queue_ms[:] = [float(n) for n in range(1, 101)]
    assert (one.queue_median_ms, one.queue_p95_ms) == (50.5, 95.0)


def test_each_direction_has_its_own_measure() -> None:
    results = [
        swarm("seed", "nothing", queue_ms=0, mbit=0, page_ms=100),
        swarm("seed", "cubic", mbit=8, page_ms=500),
        swarm("seed", "netnice", queue_ms=5, mbit=6, page_ms=110),
        swarm("leech", "netnice", queue_ms=5, mbit=6, page_ms=110),
    ]
    nothing, plain, netnice, other = torrent.rows(results)
    assert nothing[4] == "–"
    assert plain[4:] == ("8.00 Mbit/s", "500 ms, × 5.00")
    assert netnice[2:] == ("5 ms", "5 ms", "6.00 Mbit/s, 75 %", "110 ms, × 1.10")
    assert other[4:] == ("6.00 Mbit/s", "110 ms"), "there is nothing of its direction to compare with"


def test_the_torrents_document_has_the_table_that_the_scene_prints() -> None:
    shown = measured("docs/research/torrent.md")
    results = [swarm(load.key, one.key) for load in torrent.LOADS for one in torrent.SCENARIOS]
    made = torrent.Torrent.TABLE.markdown(results).splitlines()
    assert shown[:2] == made[:2]
    assert [line.split(" | ")[:2] for line in shown[2:]] == [line.split(" | ")[:2] for line in made[2:]]


def test_pages_beside_a_torrent_that_never_came_are_said() -> None:
    none = swarm("seed", "cubic", page_ms=0)
    assert math.isinf(none.page_mean_ms)
    assert torrent.rows([none])[0][-1] == "none came"


def test_no_torrent_is_whole_before_the_end() -> None:
    c = torrent.Conditions(seconds=100)
    for load in torrent.LOADS:
        assert c.torrent_bytes(load) * 8 > load.rate_bps * (c.warmup_s + c.seconds)


def sent(key: str, *clients: tuple[float, float]) -> distribution.Result:
    made = [
        distribution.Client(1_000_000 * (1 + n), 20, 10.0, took, [ping - 1, ping + 1])
        for n, (took, ping) in enumerate(clients)
    ]
    return distribution.Result(key=key, title=key, clients=made, path_trusted=True, path_reasons=[])


def test_every_client_counts_alike() -> None:
    one = sent("cubic", (20, 100), (30, 50))
    assert (one.ping_ms, one.times, one.last_s) == (75, 2.5, 30)


def test_a_setting_is_better_only_if_it_is_both_ways_by_over_a_twentieth() -> None:
    ours = sent("netnice", (20, 100))
    quicker, calmer = sent("1m", (10, 120)), sent("2m", (30, 50))
    hardly, both = sent("4m", (19.5, 90)), sent("8m", (18, 90))
    assert distribution.better([ours, quicker, calmer, hardly]) == []
    assert distribution.better([ours, hardly, both]) == [both]
    assert "by over 5 %: 8m." in distribution.answer([ours, both])
    assert "no setting" in distribution.answer([ours, hardly])
    assert distribution.answer([ours]) == ""


def test_pings_count_from_the_first_byte_to_the_last() -> None:
    said = """PING 100.65.0.2 (100.65.0.2) 56(84) bytes of data.
[10.100000] 64 bytes from 100.65.0.2: icmp_seq=1 ttl=64 time=21.0 ms
[11.500000] 64 bytes from 100.65.0.2: icmp_seq=2 ttl=64 time=322 ms
[13.000000] 64 bytes from 100.65.0.2: icmp_seq=3 ttl=64 time=0.5 ms
"""
    assert distribution.pings(said, 10.5, 13.0) == [322, 0.5]


def test_a_throttle_is_of_all_or_of_each_link() -> None:
    slow, fast = distribution.Link(1_000_000, 60), distribution.Link(50_000_000, 10)
    for setting, limits in (
        (distribution.Setting("", ""), (0, 0)),
        (distribution.Setting("", "", limit_bps=4_000_000), (4_000_000, 4_000_000)),
        (distribution.Setting("", "", share=0.9), (900_000, 45_000_000)),
    ):
        assert (setting.limit(slow), setting.limit(fast)) == limits


def test_the_table_has_a_row_a_setting() -> None:
    ours = sent("netnice", (20, 100), (12, 20))
    assert distribution.rows([ours]) == [("netnice", "60 ms", "100 ms", "1.60", "1.20", "20.0 s")]
    assert {line.count("|") for line in distribution.Distribution.TABLE.markdown([ours, ours]).splitlines()} == {7}


def test_the_distributions_document_has_the_table_that_the_scene_prints() -> None:
    shown = measured("docs/build-on/distribution.md")
    made = distribution.Distribution.TABLE.markdown([sent("netnice", (20, 100))]).splitlines()
    assert shown[:2] == made[:2]
    assert [line.split(" | ")[0].removeprefix("| ") for line in shown[2:]] == [
        one.title for one in distribution.SCENARIOS
    ]


def test_there_are_eight_clients_on_unlike_links() -> None:
    links = [link for replica in distribution.Conditions().links for link in replica]
    assert len(links) == len({link.rate_bps for link in links}) == 8


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--loads", "up"], "nothing to choose from"),
        (["--scene", "household", "--uploads", "3"], "its background is chosen by --loads"),
        (["--scene", "household", "--loads", "up,sideways"], "choose from up, down1"),
        (["--scene", "torrent", "--clients", "3"], "not for the scene torrent; its background is chosen by --loads"),
        (["--scene", "torrent", "--loads", "up"], "choose from seed, leech, adsl"),
        (["--scene", "torrent", "--scenarios", "bbr"], "choose from nothing, cubic, utp, netnice, priority"),
        (["--scene", "images", "--loads", "seed"], "choose from pull, daemon, model"),
        (["--scene", "distribution", "--seconds", "3"], "not for the scene distribution"),
        (["--scene", "distribution", "--scenarios", "3m"], "choose from netnice, cubic, 1m"),
        (["--scenarios", "nothing,bbr"], "choose from nothing, cubic, netnice, priority"),
    ],
)
def test_what_a_scene_does_not_have_is_refused(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def played(link: str, arm: str, mean_ms: float, *, trusted: bool = True, unfinished: int = 0) -> figure.Result:
    return figure.Result(
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
    keys = [arm.key for arm in figure.ARMS]
    assert keys[0] == "none"
    assert {"conservative-reno", "aggressive-reno", "conservative-nice", "aggressive-nice"} <= set(keys)
    assert len(keys) == len(set(keys)) == 9
    assert [link.key for link in figure.LINKS] == ["cable", "modem"]


def test_ratios_are_over_the_same_link_without_prefetching() -> None:
    results = [
        played("cable", "none", 200),
        played("cable", "aggressive-netnice", 50),
        played("modem", "aggressive-netnice", 1),
    ]
    assert prefetching.ratio(results, "cable", "aggressive-netnice") == 0.25
    assert prefetching.ratio(results, "modem", "aggressive-netnice") is None
    assert [row[3] for row in prefetching.rows(results)] == ["1.00", "0.25", "–"]


@pytest.mark.parametrize(("cable", "modem", "words"), [(66, 105, ["met", "met"]), (67, 106, ["MISSED", "MISSED"])])
def test_a_bar_is_met_or_missed(cable: float, modem: float, words: list[str]) -> None:
    results = [
        played("cable", "none", 200),
        played("cable", "aggressive-netnice", cable),
        played("modem", "none", 100),
        played("modem", "aggressive-netnice", modem),
    ]
    assert [line.partition(":")[0] for line in prefetching.verdicts(results)] == words


def test_doubts_of_the_figure_are_said() -> None:
    said = prefetching.doubts([played("cable", "none", 1, trusted=False), played("modem", "none", 1, unfinished=3)])
    assert said[0] == "VOID cable none: late"
    assert said[1].startswith("modem none: 3 had not come")


def test_runs_of_other_conditions_are_not_mixed_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {"conditions": {"foreground": "bbr"}, "runs": [asdict(played("cable", "none", 1))]}
    (tmp_path / "prefetching.json").write_text(json.dumps(record))
    assert prefetching.main(["--output", str(tmp_path)]) == 1
    assert "other conditions" in capsys.readouterr().err


def test_an_unknown_arm_is_refused() -> None:
    with pytest.raises(SystemExit, match="2"):
        prefetching.main(["--arms", "aggressive-bbr"])
