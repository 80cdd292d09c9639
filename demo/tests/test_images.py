# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The arithmetic of the images, and a short run of the whole."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from demo.__main__ import main
from demo.conditions import SCENARIOS
from demo.images import table
from demo.images.conditions import LOADS, Load
from demo.tests.test_demo import result
from known_miss import KnownMiss
from testbed import random_image

TOP = Path(__file__).resolve().parents[2]


def test_documents_are_against_those_alone_and_goodput_against_the_same_loads_ideal() -> None:
    runs = {
        "": [result("nothing", 100, 0)],
        "pull": [result("netnice", 110, 3), result("priority", 101, 4)],
        "model": [result("netnice", 150, 3), result("priority", 101, 6)],
    }
    nothing, pull, _, model, _ = table.rows(runs)
    assert nothing[:3] == ("nothing", "", "100 ms")
    assert pull[2:] == ("110 ms, × 1.10", "550 ms, × 1.10", "3.00 Mbit/s, 75 % of ideal")
    assert model[2] == "150 ms, × 1.50" and model[4] == "3.00 Mbit/s, 50 % of ideal"
    assert {line.count("|") for line in table.markdown(runs).splitlines()} == {6}


def test_the_document_has_the_table_that_the_scene_prints() -> None:
    _, _, rest = (TOP / "docs" / "images.md").read_text().partition("<!-- measured: begin")
    shown = rest.partition("-->\n")[2].partition("<!-- measured: end -->")[0].splitlines()
    kinds = [one.key for one in SCENARIOS if one.kind != "none"]
    beside = {load.key: [result(kind, 100, 3) for kind in kinds] for load in LOADS}
    made = table.markdown({"": [result("nothing", 100, 0)], **beside}).splitlines()
    assert shown[:2] == made[:2]
    assert [line.split(" | ")[:2] for line in shown[2:]] == [line.split(" | ")[:2] for line in made[2:]]


def test_without_documents_alone_there_is_no_ratio() -> None:
    ((_, _, mean, *_),) = table.rows({"pull": [result("netnice", 110, 3)]})
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


def test_loads_of_other_scenes_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--scene", "images", "--loads", "seed"])
    assert ended.value.code == 2
    assert "choose from pull, daemon, model" in capsys.readouterr().err


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.key)
def test_a_short_pull_from_end_to_end(tmp_path: Path, load: Load, known_miss: KnownMiss) -> None:
    words = ["--scene", "images", "--loads", load.key, "--scenarios", "nothing,netnice,priority", "--seconds", "8"]
    done = subprocess.run(
        [sys.executable, "-m", "demo", *words, "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    print(done.stdout, done.stderr)
    # 3: the machine was busy. The figures are void then, but all must work.
    assert done.returncode in (0, 3), done.stderr
    alone, netnice, ideal = json.loads((tmp_path / "demo.json").read_text())["runs"]
    runs = [(one["load"], one["key"]) for one in (alone, netnice, ideal)]
    assert runs == [("", "nothing"), (load.key, "netnice"), (load.key, "priority")]
    for one in (netnice, ideal):
        assert one["congestion_controls"] == {"foreground": ["cubic"], "background": ["cubic"]}
        assert one["background_bps"] > 1e6
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    if done.returncode == 0:
        assert netnice["background_bps"] >= 0.7 * ideal["background_bps"]
        known_miss(
            f"documents beside {load.title}, × as long",
            measured=netnice["foreground"]["mean_us"] / alone["foreground"]["mean_us"],
            most=1.15,
            noise=0.1,
            reason="what was granted comes for one round trip more, from each connection",
        )
