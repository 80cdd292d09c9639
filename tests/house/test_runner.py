# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""tests/run on small tables, .ci/run with a mock setup: sums, and that no bad ending looks like success.

What conftest.py and tests/measurements.py add to pytest: tiers and measurements.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

TOP = Path(__file__).resolve().parents[2]


def row(name: str, script: str, rest: str = "", lane: str = "work", minutes: float = 1) -> str:
    """A row whose command is a shell script."""
    run = json.dumps(["sh", "-c", script, "sh", "{junit}"] if "$1" in script else ["sh", "-c", script])
    return f'{{ name = "{name}", tier = "both", why = "-", lane = "{lane}", minutes = {minutes}, run = {run}{rest} }}'


def command(folder: Path, *rows: str) -> list[str]:
    """The command that runs these rows."""
    (folder / "parts.toml").write_text("part = [\n" + ",\n".join(rows) + "\n]\n")
    return [sys.executable, str(TOP / "tests/run"), "--table", str(folder / "parts.toml"), "--report", str(folder)]


def run(folder: Path, *rows: str, words: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """Runs the rows: exit status and lines."""
    done = subprocess.run(
        [*command(folder, *rows), *words], env=os.environ | {"XDG_CACHE_HOME": str(folder)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).splitlines()


def cases(*inner: str) -> str:
    """A script that writes a JUnit report of these cases."""
    text = "".join(f"<testcase classname='a' name='b{n}'>{one}</testcase>" for n, one in enumerate(inner))
    return f'echo "<testsuites><testsuite>{text}</testsuite></testsuites>" >"$1"'


XFAIL = "<skipped type='pytest.xfail' message='not yet'/>"


@pytest.mark.parametrize(
    ("script", "code", "last", "says"),
    [
        (cases("", ""), 0, "2 passed, 0 failed", ""),
        (cases("", XFAIL), 0, "1 passed, 0 failed", "  it: a::b1: not yet"),
        (cases("", "").replace("b1", "known_misses::b1"), 0, "1 passed, 0 failed", "known_misses::b1: its reason"),
        (cases("", "<failure/>", "<error/>") + "; exit 1", 1, "1 passed, 2 failed", "failed: it: a::b1"),
        (cases("<failure message='it was 3'/>") + "; exit 1", 1, "0 passed, 1 failed", "failed: it: a::b0: it was 3"),
        (cases("", "<skipped type='pytest.skip'/>"), 1, "1 passed, 1 failed", ""),
        (cases(""), 0, "1 passed, 0 failed", ""),
        (cases("") + "; kill -9 $$", 1, "1 passed, 1 failed", "it was ended by SIGKILL"),
        (cases("") + "; exit 3", 1, "1 passed, 1 failed", "it ended with status 3"),
        (cases(), 1, "0 passed, 1 failed", "it ran no test"),
        ("echo '<testsuite' >$1", 1, "0 passed, 1 failed", "its report cannot be read"),
        ("true || echo $1", 1, "0 passed, 1 failed", "it ran no test"),
        ("true", 0, "1 passed, 0 failed", ""),
        ("echo what went wrong; exit 1", 1, "0 passed, 1 failed", "  it | what went wrong"),
    ],
)
def test_what_counts(tmp_path: Path, script: str, code: int, last: str, says: str) -> None:
    found, lines = run(tmp_path, row("it", script))
    assert (found, lines[-1]) == (code, last)
    assert any(says in line for line in lines)


def test_the_lanes_run_beside_each_other_and_what_is_alone_after_them(tmp_path: Path) -> None:
    meet = "mkfifo f 2>/dev/null; timeout 20 sh -c '{} f'"
    rows = (
        row("last", "test -e ended", ", alone = true"),
        row("one", f"cd {tmp_path}; " + meet.format("echo x >") + " && touch ended"),
        row("other", f"cd {tmp_path}; " + meet.format("cat"), lane="machine"),
    )
    code, lines = run(tmp_path, rows[0].replace("test -e ", f"test -e {tmp_path}/"), *rows[1:])
    assert (code, lines[-1]) == (0, "3 passed, 0 failed")
    assert json.loads((tmp_path / "test.json").read_text())["verdict"] == lines[-1]


def test_a_part_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    code, lines = run(tmp_path, row("it", f"sleep 600 & echo $! >{tmp_path}/child; wait", minutes=0.01))
    assert (code, lines[-1]) == (1, "0 passed, 1 failed")
    assert any("did not end within" in line for line in lines)
    assert not is_running(int((tmp_path / "child").read_text()))


def test_an_interrupt_ends_what_runs(tmp_path: Path) -> None:
    child = tmp_path / "child"
    words = command(tmp_path, row("it", f"sleep 600 & echo $! >{child}.new; mv {child}.new {child}; wait"))
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while not child.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=40)
    assert process.returncode == 130
    assert "interrupted" in said
    assert not is_running(int(child.read_text()))


@pytest.mark.parametrize(
    ("words", "rows", "says"),
    [
        (("nonesuch",), (row("it", "true"),), "nonesuch"),
        ((), ('{ name = "odd", speed = 9 }',), "odd"),
        ((), (row("it", "true"), row("it", "true")), "two rows"),
    ],
)
def test_wrong_usage_is_2(tmp_path: Path, words: tuple[str, ...], rows: tuple[str, ...], says: str) -> None:
    code, lines = run(tmp_path, *rows, words=words)
    assert code == 2
    assert says in lines[-1]


def test_the_report_knows_earlier_measurements(tmp_path: Path) -> None:
    one = {"nodeid": "a::b", "says": "time", "unit": "s", "least": None, "most": 2, "met": False, "time": 0}
    for value in (2.5, 3.5):
        line = json.dumps({**one, "value": value})
        assert run(tmp_path, row("it", f"echo '{line}' >>$NETNICE_MEASUREMENTS"))[0] == 0
    assert "- time: 3.5 s (bar: most 2: missed); before: 2.5" in (tmp_path / "test.md").read_text().splitlines()


@pytest.mark.parametrize(
    ("body", "code", "last"),
    [
        ("echo 3 passed, 0 failed; echo more; echo 5 passed, 0 failed", 0, "5 passed, 0 failed"),
        ("echo 3 passed, 1 failed; exit 1", 1, "3 passed, 1 failed"),
        ("echo 3 passed, 1 failed; exit 0", 1, "3 passed, 1 failed"),
        ("echo 0 passed, 0 failed; exit 0", 1, "0 passed, 0 failed"),
        ("echo 3 passed, 0 failed; exit 1", 1, "3 passed, 0 failed"),
        ("echo 3 passed, 1 failed; echo 'make: *** [x] Error 1'; exit 2", 2, "3 passed, 1 failed"),
        ("echo no compiler; exit 1", 1, "0 passed, 1 failed"),
        ("echo 5 passed, 0 failed; echo then it died; kill -9 $$", 137, "0 passed, 1 failed"),
        ("printf 'no newline'", 1, "0 passed, 1 failed"),
    ],
)
def test_the_ci_scripts_last_line_and_exit_status(tmp_path: Path, body: str, code: int, last: str) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(TOP / ".ci/run", tmp_path / ".ci/run")
    setup = tmp_path / "setup"
    setup.write_text(f"#!/bin/sh\n{body}\n")
    setup.chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", ".ci/run"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[-1]) == (code, last)
    assert re.fullmatch(r"total time: \d+ min \d\d s", lines[-2])
    for word in re.findall(r"echo ([^;]+)", body):
        assert word.strip("'") in lines


def is_running(pid: int) -> bool:
    """Whether the process exists and is more than a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


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


def run_pytest(folder: Path, text: str, *words: str) -> tuple[int, str, list[ElementTree.Element]]:
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
    code, said, cases = run_pytest(tmp_path, TESTS)
    assert code == 0
    assert "2 deselected" in said
    assert [case.get("name") for case in cases] == ["test_of_both", "test_known_miss"]
    skipped = cases[1].find("skipped")
    assert skipped is not None
    assert (skipped.get("type"), skipped.get("message")) == ("pytest.xfail", "not yet")
    assert not (tmp_path / "measured").exists()


def test_verify_runs_all_and_a_missed_bar_fails_nothing(tmp_path: Path) -> None:
    code, said, cases = run_pytest(tmp_path, TESTS, "--tier", "verify")
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
    assert run_pytest(tmp_path, TESTS)[0] == 0
    assert "no_such_package" in run_pytest(tmp_path, TESTS, "--tier", "verify")[1]


def test_a_mark_says_why(tmp_path: Path) -> None:
    code, said, _ = run_pytest(tmp_path, "import pytest\n@pytest.mark.verify\ndef test_it() -> None: pass\n")
    assert code != 0
    assert "say why" in said
