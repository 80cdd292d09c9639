# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice-measure on an emulated path: what it finds is what the path is, and its files are what others read."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as File
from typing import Any

import pytest

from measurements import Measure
from system.harness.commands import netnicectl
from testbed import Namespace, Path, Process, ownership, program
from testbed.namespace import wait_until

pytestmark = pytest.mark.verify("real traffic for 10 s and more")
RATE = 10.0


@contextmanager
def served() -> Iterator[tuple[Namespace, Namespace, File]]:
    """A client's and a server's namespace with a path of 10 Mbit/s between them, and a token."""
    token = ownership.scratch("measure") / "token"
    subprocess.run([program("netnice-measure"), "token", str(token)], check=True, capture_output=True)
    words = ["serve", "--listen", "0.0.0.0:28270", "--token", str(token)]
    with (
        Namespace("client") as client,
        Namespace("server") as server,
        Path(client, server, rate="10mbit", rtt="20ms"),
        server.spawn("netnice-measure", *words) as serving,
    ):
        listening = ["ss", "-Hltn", "sport = :28270"]
        wait_until(lambda: bool(server.run(*listening).stdout), "the server", process=serving)
        yield client, server, token


def run(server: Namespace, token: File, *words: str) -> list[str]:
    common = ["--transfer", "2s", "--interval", "1ms"]
    return ["netnice-measure", "run", server.address, "--token", str(token), *common, *words]


def records(results: File) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    return [line for line in lines if line["kind"] == "measurement"]


def mbit(found: list[dict[str, Any]], action: str) -> float:
    """The primary's mean."""
    return statistics.mean(float(r["bytes"] * 8e-6 / r["seconds"]) for r in found if r["action"] == action)


@pytest.mark.usefixtures("fresh")
def test_uploads(tmp_path: File, measure: Measure) -> None:
    import flent.resultset  # here: only this tier's environment has them
    import pyarrow.parquet

    results, report = tmp_path / "results.jsonl", tmp_path / "report"
    actions = "cubic/none,netnice/none,cubic/cubic,cubic/netnice"
    with served() as (client, server, token):
        words = ["--actions", actions, "--output", str(results), "--for", "24s"]
        said = client.run(*run(server, token, *words), timeout=120)
    assert "Background uploads (netnice) cost the foreground" in said.stdout
    found = records(results)
    alone, shared = mbit(found, "cubic/none"), mbit(found, "cubic/cubic")
    assert RATE * 0.4 < alone < RATE
    assert mbit(found, "cubic/netnice") > shared, "this one yields"
    measure("netnice-measure: two uploads share", shared / alone, "×", most=0.8)
    measure("netnice-measure: and one of them yields", mbit(found, "cubic/netnice") / shared, "×", least=1.1)
    measure("netnice-measure: it alone", mbit(found, "netnice/none") / alone, "×", least=0.6)
    assert all(record["call"]["sent"] > 10 for record in found)
    assert all(record["call"]["p50_ms"] >= 20 for record in found)

    subprocess.run([program("netnice-measure"), "report", str(results), "--to", str(report)], check=True)
    opened = flent.resultset.load(str(report / "cubic-netnice-up.flent.gz"))
    assert opened.meta("NAME") == "tcp_upload"
    assert opened.meta("TITLE") == "cubic/netnice"
    assert len(opened.series("TCP upload")) == sum(record["action"] == "cubic/netnice" for record in found)
    table = pyarrow.parquet.read_table(report / "results.parquet")
    assert table.num_rows == len(found)
    assert table.column("action").to_pylist() == [record["action"] for record in found]


@pytest.mark.usefixtures("down")
def test_downloads_by_the_receiver(tmp_path: File, measure: Measure) -> None:
    netnicectl("up", "--applications")
    results = tmp_path / "results.jsonl"
    with served() as (client, server, token):
        words = ["--actions", "cubic/none,cubic/cubic,cubic/tide", "--direction", "down", "--for", "16s"]
        client.run(*run(server, token, *words, "--output", str(results)), timeout=120)
    found = records(results)
    assert {record["direction"] for record in found} == {"down"}
    assert RATE * 0.4 < mbit(found, "cubic/none") < RATE
    gain = mbit(found, "cubic/tide") / mbit(found, "cubic/cubic")
    measure("netnice-measure: one of two downloads yields", gain, "×", least=1.05)


def test_a_full_disk_loses_nothing(tmp_path: File) -> None:
    """Records wait in memory until there is room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
    try:
        (disk / "others").write_bytes(b"x" * 60 * 1024)
        with served() as (client, server, token):
            words = ["--actions", "reno/none", "--transfer", "100ms", "--output", str(disk / "results.jsonl")]
            with client.spawn(*run(server, token)[:5], *words, "--interval", "1ms", stderr=subprocess.PIPE) as running:
                told = until(running, "No space left on device")
                assert "kept in memory until there is room" in told
                (disk / "others").unlink()
                count = int(until(running, ": reno/none up").split(": ")[1])
                running.end()
            assert len(records(disk / "results.jsonl")) >= count
    finally:
        subprocess.run(["umount", disk], check=True)


def until(process: Process, part: str) -> str:
    """The next line on standard error that has ``part`` in it."""
    stderr = process._popen.stderr
    assert stderr is not None
    for line in stderr:
        if part in line:
            return str(line)
    raise AssertionError(f"it never said: {part}")
