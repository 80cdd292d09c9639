# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What conftest.py and tests/measurements.py add to pytest: tiers and measurements."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

TOP = Path(__file__).resolve().parents[2]

TESTS = """
import pytest
from measurements import Measure

@pytest.mark.verify("slow")
class TestOfVerify:
    def test_missed(self, measure: Measure) -> None:
        measure("time", 2.5, "s", most=2)
        measure("share", 0.98, "", least=0.97)

    def test_nothing_measured(self, measure: Measure) -> None:
        measure("time", float("nan"), "s")

def test_of_both() -> None:
    pass

@pytest.mark.xfail(strict=True, reason="not yet")
def test_known_miss() -> None:
    assert not "met"
"""


def pytest(folder: Path, text: str, *words: str) -> tuple[int, str, list[ElementTree.Element]]:
    """Runs the tests ``text`` in ``folder``: exit status, output, and JUnit's test cases."""
    for name in ("conftest.py", "tests/measurements.py", "tests/report.py"):
        (folder / Path(name).name).write_text((TOP / name).read_text())
    (folder / "test_it.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--junit-xml=junit.xml", *words],
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": "/usr/bin", "PYTHONPATH": ".", "NETNICE_MEASUREMENTS": "measured"},
    )  # fmt: skip
    cases = list(ElementTree.parse(folder / "junit.xml").iter("testcase")) if (folder / "junit.xml").exists() else []
    return done.returncode, done.stdout + done.stderr, cases


def test_the_quick_tier_leaves_out_what_is_marked(tmp_path: Path) -> None:
    code, said, cases = pytest(tmp_path, TESTS)
    assert code == 0
    assert "2 deselected" in said
    assert [case.get("name") for case in cases] == ["test_of_both", "test_known_miss"]
    skipped = cases[1].find("skipped")
    assert skipped is not None
    assert (skipped.get("type"), skipped.get("message")) == ("pytest.xfail", "not yet")
    assert not (tmp_path / "measured").exists()


def test_verify_runs_all_and_a_missed_bar_fails_nothing(tmp_path: Path) -> None:
    code, said, cases = pytest(tmp_path, TESTS, "--tier", "verify")
    assert code == 1
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["test_nothing_measured"]
    assert "time: 2.5 s (bar: most 2: missed)" in said
    measured = [json.loads(line) for line in (tmp_path / "measured").read_text().splitlines()]
    assert [(one["says"], one["value"], one["met"]) for one in measured] == [
        ("time", 2.5, False),
        ("share", 0.98, True),
    ]


def test_a_module_of_verify_may_import_what_the_quick_tier_is_without(tmp_path: Path) -> None:
    rare = "import pytest\nimport no_such_package\npytestmark = pytest.mark.verify('rare')\n"
    (tmp_path / "test_rare.py").write_text(rare)
    assert pytest(tmp_path, TESTS)[0] == 0
    assert "no_such_package" in pytest(tmp_path, TESTS, "--tier", "verify")[1]


def test_a_mark_says_why(tmp_path: Path) -> None:
    code, said, _ = pytest(tmp_path, "import pytest\n@pytest.mark.verify\ndef test_it() -> None: pass\n")
    assert code != 0
    assert "say why" in said
