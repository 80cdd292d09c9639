# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The CI script's closing lines and exit status, with a setup that only pretends."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


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
def test_the_last_line_and_the_exit_status(tmp_path: Path, body: str, code: int, last: str) -> None:
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
