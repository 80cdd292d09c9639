# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The README's picture: of both records, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from demo.picture import BOTTOM, TOP, caption, drawn, main, series

MS = {"nothing": 100.0, "plain": 500.0, "netnice": 110.0}


def of_the_command() -> dict[str, Any]:
    """What `netnicectl demo --json` prints."""
    phases = [{"background": name, "pages": [[1.0, ms], [2.0, ms]]} for name, ms in MS.items()]
    return {"rate_bps": 10_000_000, "rtt_ms": 40, "uploads": 4, "phases": phases}


def of_the_scene() -> dict[str, Any]:
    """demo.json."""
    keys = {"nothing": "nothing", "plain": "cubic", "netnice": "netnice"}
    runs = [{"key": keys[name], "latencies": [[-3.0, ms], [4.0, ms]]} for name, ms in MS.items()]
    conditions = {"rate_bps": 10_000_000, "rtt_ms": 40, "uploads": 16}
    return {"conditions": conditions, "scenarios": [*runs, {"key": "priority", "latencies": []}]}


@pytest.mark.parametrize("record", [of_the_command(), of_the_scene()])
def test_both_records_have_the_same_picture(record: dict[str, Any]) -> None:
    assert [(one.name, one.mean) for one in series(record)] == list(MS.items())
    picture = ElementTree.fromstring(drawn(record))
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "beside plain uploads: 500 ms, × 5.0" in texts
    assert "beside netnice uploads: 110 ms, × 1.1" in texts
    assert "alone: 100 ms" in texts
    assert caption(record) in texts
    lines = picture.iter("{http://www.w3.org/2000/svg}line")
    assert all(TOP <= float(line.attrib["y1"]) <= BOTTOM for line in lines if line.attrib["y1"] != "20")


def test_pages_before_the_measured_time_are_not_drawn() -> None:
    assert drawn(of_the_scene()).count("h0") == 2
    assert drawn(of_the_command()).count("h0") == 4


def test_what_is_not_whole_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = of_the_scene()
    record["scenarios"].pop(1)
    (tmp_path / "demo.json").write_text(json.dumps(record))
    for words in ((), (str(tmp_path / "none"), "x.svg"), (str(tmp_path / "demo.json"), str(tmp_path / "x.svg"))):
        assert main(words) == (1 if words else 2)
    assert not (tmp_path / "x.svg").exists()
    said = capsys.readouterr().err
    assert "'make demo' writes demo.json" in said
    assert "no pages beside plain uploads" in said


def test_the_command_writes_the_picture(tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_text(json.dumps(of_the_command()))
    picture = tmp_path / "pictures" / "demo.svg"
    assert main((str(tmp_path / "demo.json"), str(picture))) == 0
    assert picture.read_text().startswith("<svg")
