# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Short runs of the scenes from end to end: what is asserted is coarse, figures are measurements.

Warm-ups are shorter than the demo's, so a figure is to be compared with earlier ones of its own, not with docs/.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from demo.__main__ import play, scene_of
from demo.scene import p95
from demo.scenes import prefetching
from demo.scenes.torrent import LOADS, Load
from demo.scenes.torrent import Result as TorrentResult
from measurements import Measure
from testbed import netnice_up

SHORT = {"warmup_s": 4.0, "grace_s": 1.0}


def played(folder: Path, words: str, **conditions: Any) -> tuple[bool, dict[str, Any]]:
    """Whether the machine kept the paths' time, and demo.json; all that the command does has worked."""
    scene = scene_of([*words.split(), "--output", str(folder)])
    scene.conditions = replace(scene.conditions, **conditions)
    before = _state()
    trusted = play(scene) == 0
    assert _state() == before
    if find_spec("matplotlib"):
        assert (folder / "demo.png").stat().st_size > 10_000
    record: dict[str, Any] = json.loads((folder / "demo.json").read_text())
    assert record["trusted"] == trusted
    return trusted, record


def _state() -> tuple[list[str], str, bool]:
    """What this process has of the machine, and what it shares with others."""
    spaces = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    mine = [line for line in spaces.splitlines() if line.startswith(f"nn-{os.getpid()}-")]
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text()
    return mine, allowed, Path("/sys/fs/bpf/netnice").exists()


def believed(trusted: bool, measure: Measure) -> bool:
    """Whether a test's figures count; that a machine was too busy for the paths to keep their time is recorded."""
    measure("the machine kept the paths' time", float(trusted), "of 1", least=1)
    return trusted


def test_documents_beside_a_few_uploads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, record = played(tmp_path, "--scenarios nothing,netnice --uploads 4 --seconds 3", warmup_s=2.0, grace_s=1.0)
    nothing, netnice = record["scenarios"]
    assert (nothing["key"], netnice["key"]) == ("nothing", "netnice")
    assert nothing["congestion_controls"] == {"foreground": ["cubic"], "background": []}
    assert netnice["congestion_controls"] == {"foreground": ["cubic"], "background": ["netnice"]}
    assert nothing["foreground"]["documents"] == netnice["foreground"]["documents"], "the same seed, the same documents"
    assert min(one["foreground"]["finished"] for one in (nothing, netnice)) > 0
    assert nothing["background_bps"] < 1e5 < netnice["background_bps"]
    head, *rows = capsys.readouterr().out.strip().splitlines()
    assert head.startswith("background") and len(rows) == 2


@pytest.mark.verify("a measurement of a minute")
def test_what_the_readme_says_of_documents_beside_uploads(tmp_path: Path, measure: Measure) -> None:
    """In the demo's own conditions, but for its 32 s."""
    trusted, record = played(tmp_path, "--scenarios nothing,netnice --seconds 16")
    nothing, netnice = record["scenarios"]
    if not believed(trusted, measure):
        return
    times = netnice["foreground"]["mean_us"] / nothing["foreground"]["mean_us"]
    assert times < 2, "plain uploads have documents take 5 times as long"
    assert netnice["spare_used"] > 0.1
    measure("documents beside 16 netnice uploads, against alone", times, "×", most=1.2)
    measure("16 netnice uploads beside documents, of the spare", 100 * netnice["spare_used"], "%", least=30)


@pytest.mark.verify("real traffic for a quarter of a minute each")
@pytest.mark.parametrize("words", ["--uploads 8 --scenarios priority", "--downloads 8 --scenarios netnice,priority"])
def test_documents_beside_what_sends_by_cubic(tmp_path: Path, words: str) -> None:
    _, record = played(tmp_path, f"{words} --seconds 4", **SHORT)
    for one in record["scenarios"]:
        assert one["congestion_controls"] == {"foreground": ["cubic"], "background": ["cubic"]}
        assert one["foreground"]["finished"] > 0 and one["background_bps"] > 5e5


@pytest.mark.verify("real traffic for half a minute")
def test_a_household(tmp_path: Path, measure: Measure) -> None:
    words = "--scene household --loads both --scenarios nothing,netnice --seconds 4"
    trusted, record = played(tmp_path, words, warmup_s=3.0)
    alone, both = record["runs"]
    assert [(one["load"], one["kind"]) for one in (alone, both)] == [("", "nothing"), ("both", "netnice")]
    for one in (alone, both):
        assert one["call_sent"] == 200 and len(one["call_ms"]) > 100
        assert (one["up_bytes"] > 0) == (one["down_bytes"] > 0) == (one is both)
    if not believed(trusted, measure):
        return
    late = p95(both["call_ms"])
    measure("a call beside 2 netnice backups and 4 downloads, 95th percentile there and back", late, "ms")


@pytest.mark.verify("a measurement of half a minute each")
@pytest.mark.parametrize(("load", "least_mbit"), [(LOADS[0], 7.7), (LOADS[1], 6.9)], ids=["seed", "leech"])
def test_a_torrent(tmp_path: Path, load: Load, least_mbit: float, measure: Measure) -> None:
    """The least is 80 % of what plain TCP moves, by docs/research/torrent.md."""
    words = f"--scene torrent --loads {load.key} --scenarios netnice --seconds 8"
    trusted, record = played(tmp_path, words, warmup_s=12.0)
    (one,) = (TorrentResult(**run) for run in record["runs"])
    assert one.torrent_bps > 1e6, "the clients found each other, and the data goes"
    assert len(one.queue_ms) > 100 and one.page_ms
    if not believed(trusted, measure):
        return
    assert one.queue_median_ms < 200, "plain TCP fills half a second of buffer"
    measure(f"a netnice client that {load.title}, goodput", one.torrent_bps / 1e6, "Mbit/s", least=least_mbit)
    measure(f"a netnice client that {load.title}, median queueing delay", one.queue_median_ms, "ms", most=20)


@pytest.mark.verify("a measurement of a minute")
def test_image_pulls_and_a_model(tmp_path: Path, measure: Measure) -> None:
    """The least is 70 % of what the priority queue gives, by docs/research/images.md."""
    least_mbit = {"pull": 2.5, "daemon": 2.5, "model": 2.8}
    trusted, record = played(tmp_path, "--scene images --scenarios nothing,netnice --seconds 4", grace_s=1.0)
    alone, *runs = record["runs"]
    assert [one["load"] for one in runs] == list(least_mbit)
    for one in runs:
        assert one["congestion_controls"] == {"foreground": ["cubic"], "background": ["cubic"]}
        assert one["background_bps"] > 1e6
    if not believed(trusted, measure):
        return
    for one in runs:
        times = one["foreground"]["mean_us"] / alone["foreground"]["mean_us"]
        assert times < 4, "a plain model has documents take 6 times as long"
        measure(f"documents beside a netnice {one['load']}, against alone", times, "×", most=1.15)
        got = one["background_bps"] / 1e6
        measure(f"a netnice {one['load']} beside documents, goodput", got, "Mbit/s", least=least_mbit[one["load"]])


@pytest.mark.verify("real traffic for a quarter of a minute")
def test_a_marked_pull(tmp_path: Path) -> None:
    _, record = played(tmp_path, "--scene images --loads pull --scenarios priority --seconds 4", **SHORT)
    (ideal,) = record["runs"]
    assert ideal["congestion_controls"] == {"foreground": ["cubic"], "background": ["cubic"]}
    assert ideal["background_bps"] > 1e6


@pytest.mark.verify("a measurement of half a minute")
def test_a_distribution(tmp_path: Path, measure: Measure) -> None:
    words = "--scene distribution --scenarios netnice,90%"
    trusted, record = played(tmp_path, words, file_bytes=1_000_000)
    netnice, throttled = record["runs"]
    assert [netnice["key"], throttled["key"]] == ["netnice", "90%"]
    for one in (netnice, throttled):
        assert len(one["clients"]) == 8
        assert all(client["took_s"] > client["least_s"] and client["ping_ms"] for client in one["clients"])
    if not believed(trusted, measure):
        return
    share = netnice["ping_ms"] / throttled["ping_ms"]
    assert share < 1, "throttled senders fill the buffers all the same"
    measure("pings while netnice distributes a file, against throttles of 90 %", 100 * share, "%", most=60)
    measure("throttles that beat netnice both in pings and completion", len(record["better"]), "settings", most=0)


@pytest.mark.verify("real traffic for half a minute")
def test_visits_with_prefetching() -> None:
    c = replace(prefetching.Conditions(), hosts=1, learned_visits=1000, played_visits=100, warmup_s=3.0)
    cable = replace(prefetching.LINKS[0], seconds=10.0)
    with netnice_up():
        one = prefetching.run(cable, prefetching.Arm("aggressive", "netnice"), prefetching.make_logs(c), c)
    assert (one.errors, one.congestion_controls) == (0, ["netnice", "reno"])
    assert one.requests > 20 and one.demanded_bps > 0
    assert one.prefetched_bps > 1e5 and one.prefetched_share > 0
