# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The arithmetic of documents beside transfers and pulls, their tables, and what of the command is refused."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from demo.__main__ import main
from demo.background import Conditions
from demo.scene import SCENARIOS, drawn
from demo.scenes import documents, images
from demo.scenes.documents_run import Result
from testbed import random_image

TOP = Path(__file__).resolve().parents[2]


def measured(document: str) -> list[str]:
    """The lines of a document's table."""
    _, _, rest = (TOP / document).read_text().partition("<!-- measured: begin")
    return rest.partition("-->\n")[2].partition("<!-- measured: end -->")[0].splitlines()


def result(key: str, mean_ms: float, background_mbit: float, *, trusted: bool = True) -> Result:
    return Result(
        key=key,
        title=key,
        foreground={
            "mean_us": mean_ms * 1e3,
            "median_us": mean_ms * 900,
            "p99_us": mean_ms * 5e3,
            "goodput_bps": 5e6,
            "documents": 100,
            "unfinished": 0,
        },
        background_bps=background_mbit * 1e6,
        link_bps=10e6,
        congestion_controls={},
        path_trusted=trusted,
        path_reasons=[] if trusted else ["late"],
        lateness_p99_us=50,
        timeline={},
        documents=[],
    )


def test_ratios_are_against_the_undisturbed_and_the_ideal_run() -> None:
    results = [result("nothing", 100, 0), result("netnice", 115, 3), result("priority", 101, 4.5)]
    nothing, netnice, priority = documents.rows(results)
    assert netnice == ("netnice", "115", "1.15", "104", "575", "1.15", "3.00", "60", "67")
    assert nothing[2] == nothing[6] == "–"
    assert priority[8] == "100"


def test_one_scenario_alone_has_no_ratios() -> None:
    (row,) = documents.rows([result("netnice", 115, 3)])
    assert (row[2], row[7], row[8]) == ("–", "60", "–")


def test_the_short_table_has_the_same_figures() -> None:
    results = [result("nothing", 100, 0), result("netnice", 115, 3), result("priority", 101, 4.5)]
    nothing, netnice, _ = documents.short_rows(results)
    assert nothing == ("nothing", "100 ms", "500 ms", "–")
    assert netnice == ("netnice", "115 ms, × 1.15", "575 ms, × 1.15", "3.00 Mbit/s, 67 % of ideal")


@pytest.mark.parametrize(("document", "full", "columns"), [("README.md", False, 4), ("docs/research/demo.md", True, 9)])
def test_documents_have_the_table_that_the_demo_prints(document: str, full: bool, columns: int) -> None:
    shown = measured(document)
    made = documents.table([result(one.key, 100, 3) for one in SCENARIOS], full=full, as_markdown=True).splitlines()
    assert shown[:2] == made[:2]
    titles = [one.title.format(transfers="uploads") for one in SCENARIOS]
    assert [line.split(" | ")[0].removeprefix("| ") for line in shown[2:]] == titles
    assert {len(line.strip("|").split("|")) for line in shown} == {columns}


def test_void_runs_say_so_everywhere() -> None:
    results = [result("nothing", 100, 0), result("netnice", 115, 3, trusted=False)]
    assert "VOID" in documents.table(results)
    assert "VOID" in documents.table(results, as_markdown=True)
    assert documents.doubts(results) == ["VOID 'netnice': late"]


def test_unfinished_documents_are_remarked() -> None:
    one = result("cubic", 500, 9)
    one.foreground["unfinished"] = 3
    (said,) = documents.doubts([one])
    assert "3 of 100" in said


def test_the_tables_columns_line_up() -> None:
    for full, bars in ((False, 5), (True, 10)):
        lines = documents.table([result("nothing", 100, 0), result("cubic", 1115.4, 9)], full=full).splitlines()
        assert len({len(line) for line in lines}) == 1
        rows = documents.table([result("nothing", 100, 0)], full=full, as_markdown=True).splitlines()
        assert {row.count("|") for row in rows} == {bars}


def test_no_upload_can_finish_before_the_run() -> None:
    c = Conditions(seconds=100)
    run = c.warmup_s + c.seconds + c.grace_s
    assert c.file_bytes * c.files_per_upload * 8 > c.rate_bps * run


def test_without_matplotlib_there_is_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def draw(_file: Path) -> None:
        raise ImportError("matplotlib")

    assert not drawn("demo", draw, tmp_path / "demo.png")
    assert "there is no picture; './setup demo' brings it" in capsys.readouterr().err


def test_titles_name_the_transfers() -> None:
    assert SCENARIOS[1].title.format(transfers=Conditions(downloads=8).transfers) == "plain downloads (CUBIC)"
    assert (Conditions().transfers, Conditions(downloads=8).transfers_at_a_time) == ("uploads", 8)


@pytest.mark.parametrize(
    ("scene", "package"),
    [("torrent", "transmission-daemon"), ("images", "docker-registry"), ("distribution", "iputils-ping")],
)
def test_a_missing_program_is_said_before_anything_runs(
    tmp_path: Path, scene: str, package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shutil.which
    missing = {"transmission-daemon", "docker-registry", "ping"}
    monkeypatch.setattr(shutil, "which", lambda name, **words: None if name in missing else found(name, **words))
    assert main(["--scene", scene, "--output", str(tmp_path)]) == 1
    assert f"apt-get install {package}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_documents_are_against_those_alone_and_goodput_against_the_same_loads_ideal() -> None:
    runs = {
        "": [result("nothing", 100, 0)],
        "pull": [result("netnice", 110, 3), result("priority", 101, 4)],
        "model": [result("netnice", 150, 3), result("priority", 101, 6)],
    }
    nothing, pull, _, model, _ = images.rows(runs)
    assert nothing[:3] == ("nothing", "", "100 ms")
    assert pull[2:] == ("110 ms, × 1.10", "550 ms, × 1.10", "3.00 Mbit/s, 75 % of ideal")
    assert model[2] == "150 ms, × 1.50" and model[4] == "3.00 Mbit/s, 50 % of ideal"
    assert {line.count("|") for line in images.table(runs, as_markdown=True).splitlines()} == {6}


def test_the_images_document_has_the_table_that_the_scene_prints() -> None:
    kinds = [one.key for one in SCENARIOS if one.kind != "none"]
    beside = {load.key: [result(kind, 100, 3) for kind in kinds] for load in images.LOADS}
    made = images.table({"": [result("nothing", 100, 0)], **beside}, as_markdown=True).splitlines()
    shown = measured("docs/research/images.md")
    assert shown[:2] == made[:2]
    assert [line.split(" | ")[:2] for line in shown[2:]] == [line.split(" | ")[:2] for line in made[2:]]


def test_without_documents_alone_there_is_no_ratio() -> None:
    ((_, _, mean, *_),) = images.rows({"pull": [result("netnice", 110, 3)]})
    assert mean == "110 ms"


def test_an_image_is_what_its_digests_say(tmp_path: Path) -> None:
    assert random_image(tmp_path, 2, 1000) == f"oci:{tmp_path}:latest"
    (index,) = json.loads((tmp_path / "index.json").read_text())["manifests"]

    def blob(described: dict[str, Any]) -> bytes:
        algorithm, _, digest = described["digest"].partition(":")
        data: bytes = (tmp_path / "blobs" / algorithm / digest).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (digest, described["size"])
        return data

    manifest = json.loads(blob(index))
    contents = [gzip.decompress(blob(layer)) for layer in manifest["layers"]]
    assert len(set(contents)) == 2
    diffs = json.loads(blob(manifest["config"]))["rootfs"]["diff_ids"]
    assert [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in contents] == diffs
    with tarfile.open(fileobj=io.BytesIO(contents[1])) as tar:
        assert [(file.name, file.size) for file in tar] == [("layer1", 1000)]
