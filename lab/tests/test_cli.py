# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
import signal
import subprocess

import pytest

from netnice_lab import cli, places


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [str(places.LAB / "netnice-lab"), "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as lab:
        assert lab.stdout and lab.stderr
        lab.stdout.close()
        assert lab.stderr.read() == ""
    assert lab.returncode == 128 + signal.SIGPIPE


def test_a_core_that_is_none_is_refused_with_those_that_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["netnice-lab", "record", "--core", "nicest", "lbe-drift"])
    assert cli.main() == 2
    assert "choose from netnice, netnice1, netnice2, nice," in capsys.readouterr().err
