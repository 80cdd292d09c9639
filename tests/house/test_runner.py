# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""tests/run as a whole, on tables made for the occasion."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def row(name: str, script: str, count: str = "plain", minutes: float = 1) -> str:
    """One row whose command is a Python script."""
    command = json.dumps(["{python}", "-c", script])
    return f'{{ name = "{name}", group = "g", count = "{count}", minutes = {minutes}, run = {command} }}'


def run(tmp_path: Path, *rows: str, names: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """Runs tests/run on a table of these rows; returns its exit status and its lines."""
    table = tmp_path / "parts.toml"
    table.write_text("part = [\n" + ",\n".join(rows) + "\n]\n")
    done = subprocess.run(
        [sys.executable, str(TOP / "tests/run"), "--table", str(table), *names],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_good_parts_add_up(tmp_path: Path) -> None:
    code, lines = run(tmp_path, row("a", "print('2 passed, 0 failed')"), row("b", "print('3 passed, 0 failed')"))
    assert (code, lines[-1]) == (0, "5 passed, 0 failed")


def test_known_misses_are_listed_before_the_sum(tmp_path: Path) -> None:
    one = "print('known miss: a cost: 70, at most 63 is the bar'); print('2 passed, 0 failed')"
    code, lines = run(tmp_path, row("a", one), row("b", "print('known misses: 4'); print('3 passed, 0 failed')"))
    assert (code, lines[-1]) == (0, "5 passed, 0 failed")
    assert lines[lines.index("known misses: 5") :][1:3] == [
        "  a: a cost: 70, at most 63 is the bar",
        "  b: 4 (listed above, in what it printed)",
    ]


def test_a_killed_part_fails_and_the_next_still_runs(tmp_path: Path) -> None:
    suicide = "import os; print('9 passed, 0 failed', flush=True); os.kill(os.getpid(), 9)"
    code, lines = run(tmp_path, row("a", suicide), row("b", "print('1 passed, 0 failed')"))
    assert (code, lines[-1]) == (1, "10 passed, 1 failed")
    assert any("SIGKILL" in line for line in lines)


def test_a_command_that_does_not_exist_fails(tmp_path: Path) -> None:
    missing = '{ name = "a", group = "g", count = "exit", minutes = 1, run = ["./no-such-program"] }'
    code, lines = run(tmp_path, missing)
    assert (code, lines[-1]) == (1, "0 passed, 1 failed")


def test_a_hung_part_is_ended_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    hang = (
        "import subprocess, time; c = subprocess.Popen(['sleep', '600']);"
        f"open('{mark}', 'w').write(str(c.pid)); print('1 passed, 0 failed', flush=True); time.sleep(600)"
    )
    start = time.monotonic()
    code, lines = run(tmp_path, row("a", hang, minutes=0.02))
    assert (code, lines[-1]) == (1, "1 passed, 1 failed")
    assert time.monotonic() - start < 20
    assert not is_running(int(mark.read_text()))


def test_a_part_that_leaves_a_process_behind_fails(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    leave = (
        "import subprocess; c = subprocess.Popen(['sleep', '600']);"
        f"open('{mark}', 'w').write(str(c.pid)); print('1 passed, 0 failed')"
    )
    code, lines = run(tmp_path, row("a", leave))
    assert (code, lines[-1]) == (1, "1 passed, 1 failed")
    assert not is_running(int(mark.read_text()))


def test_each_line_is_shown_when_it_comes(tmp_path: Path) -> None:
    table = tmp_path / "parts.toml"
    table.write_text("part = [" + row("a", "import time; print('early'); time.sleep(30)") + "]")
    command = [sys.executable, str(TOP / "tests/run"), "--table", str(table)]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=buffered) as process:
        assert process.stdout is not None
        start = time.monotonic()
        shown = [process.stdout.readline().strip() for _ in range(2)]
        process.send_signal(2)
        process.wait(10)
    assert shown[1] == "early"
    assert time.monotonic() - start < 10
    assert process.returncode == 130


def test_parts_are_chosen_by_name(tmp_path: Path) -> None:
    code, lines = run(
        tmp_path, row("a", "print('1 passed, 0 failed')"), row("b", "import sys; sys.exit(3)"), names=("a",)
    )
    assert (code, lines[-1]) == (0, "1 passed, 0 failed")


def test_an_unknown_part_is_wrong_usage(tmp_path: Path) -> None:
    code, lines = run(tmp_path, row("a", "pass"), names=("nonesuch",))
    assert code == 2
    assert "nonesuch" in lines[-1]


def test_an_empty_table_is_not_success(tmp_path: Path) -> None:
    code, _ = run(tmp_path)
    assert code != 0


def test_a_row_with_a_wrong_field_is_named(tmp_path: Path) -> None:
    code, lines = run(tmp_path, '{ name = "odd", group = "g", count = "exit", minutes = 1, run = ["true"], speed = 9 }')
    assert code == 2
    assert "odd" in lines[-1]
    assert "speed" in lines[-1]


def is_running(pid: int) -> bool:
    """Whether the process exists and is more than a zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
